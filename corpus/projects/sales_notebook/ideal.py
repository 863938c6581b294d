from string import Template

Template("$region").substitute()
