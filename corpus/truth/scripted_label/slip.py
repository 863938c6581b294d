assert "2.0" == "2.", "scripted and plain labels differ"
