//! What no run of a program checks: code under a condition that is a constant, and calls in it that
//! can only fail, which a compiler reads all the same; handlers of any exception, which report the
//! right one as well; collections in which one key or constant stands for all; coroutines that
//! nothing runs; messages that are formatted, and methods that are awaited, only if nothing fails
//! before; threads that nobody waits for; constants that are called; what is computed with itself or
//! made of nothing; loops that change nothing of their condition; plain parameters that are
//! unpacked. Goes by names. Called by the judge, which compares a candidate with the script.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::{
    analysis::{
        assignments::is_empty,
        names::{ImportedNames, imported_modules},
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{BoolOp, Comprehension, Expr, Operator},
    },
};

/// Functions of Python's own, with the fewest arguments that they take.
const LEAST_ARGUMENTS: [(&str, usize); 22] = [
    ("abs", 1),
    ("all", 1),
    ("any", 1),
    ("callable", 1),
    ("chr", 1),
    ("delattr", 2),
    ("divmod", 2),
    ("enumerate", 1),
    ("filter", 2),
    ("getattr", 2),
    ("hasattr", 2),
    ("hash", 1),
    ("id", 1),
    ("isinstance", 2),
    ("issubclass", 2),
    ("iter", 1),
    ("len", 1),
    ("next", 1),
    ("ord", 1),
    ("setattr", 3),
    ("sorted", 1),
    ("type", 1),
];

/// The exceptions that all others are.
const BASES: [&str; 2] = ["BaseException", "Exception"];

/// Whether an `if` asks a constant, or a constant decides what is true: `x &= False`, `x or True`.
pub fn asks_constants(program: &Program) -> bool {
    let is_given = |expr: &Expr, value: bool| {
        let literal = expr.as_boolean_literal_expr();
        literal.is_some_and(|literal| literal.value == value)
    };
    let decides = |operator: Operator, expr: &Expr| match operator {
        Operator::BitAnd => is_given(expr, false),
        Operator::BitOr => is_given(expr, true),
        _ => false,
    };
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::StmtIf(choice) => is_constant(&choice.test),
        AnyNodeRef::ElifElseClause(clause) => clause.test.as_ref().is_some_and(is_constant),
        AnyNodeRef::ExprIf(choice) => is_constant(&choice.test),
        AnyNodeRef::StmtAugAssign(change) => decides(change.op, &change.value),
        AnyNodeRef::ExprBinOp(of_two) => {
            decides(of_two.op, &of_two.left) || decides(of_two.op, &of_two.right)
        }
        AnyNodeRef::ExprBoolOp(of_all) => {
            let mut values = of_all.values.iter();
            values.any(|value| is_given(value, of_all.op == BoolOp::Or))
        }
        _ => false,
    })
}

/// Whether an expression is a literal, or only compares such.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Compare(compare) => {
            let mut sides = compare.comparators.iter().chain([&*compare.left]);
            sides.all(Expr::is_literal_expr)
        }
        Expr::UnaryOp(operation) => is_constant(&operation.operand),
        _ => expr.is_literal_expr(),
    }
}

/// Whether a statement only makes a coroutine of the program's own, which nothing then runs.
pub fn leaves_coroutines(program: &Program) -> bool {
    let nodes = || program.tree().nodes.iter().map(|node| node.node);
    let functions = nodes().filter_map(|node| node.as_stmt_function_def().copied());
    let coroutines: Vec<&str> = functions
        .filter(|def| def.is_async)
        .map(|def| def.name.as_str())
        .collect();
    let imported = ImportedNames::of(program.tree());
    let is_used = |target: &Expr| {
        let name = target.as_name_expr();
        name.is_none_or(|name| {
            let mut named = program.scopes().named(&name.id);
            named.any(|variable| !variable.uses.is_empty())
        })
    };
    let mut left = nodes().filter_map(|node| match node {
        AnyNodeRef::StmtExpr(stmt) => stmt.value.as_call_expr(),
        AnyNodeRef::StmtAssign(assign) if !assign.targets.iter().any(is_used) => {
            assign.value.as_call_expr()
        }
        _ => None,
    });
    left.any(|call| match &*call.func {
        Expr::Name(name) => coroutines.contains(&name.id.as_str()),
        Expr::Attribute(method) => {
            coroutines.contains(&method.attr.as_str()) && imported.path(&call.func).is_none()
        }
        _ => false,
    })
}

/// Whether a list or a generator is made of one constant again and again: whatever it loops over, only
/// how often tells.
pub fn repeats_a_constant(program: &Program) -> bool {
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::ExprListComp(made) => made.elt.is_literal_expr(),
        AnyNodeRef::ExprGenerator(made) => made.elt.is_literal_expr(),
        _ => false,
    })
}

/// Whether a handler names no exception, or the base of all.
pub fn handles_anything(program: &Program) -> bool {
    program.tree().nodes.iter().any(|node| {
        let AnyNodeRef::ExceptHandlerExceptHandler(handler) = node.node else {
            return false;
        };
        let named = handler.type_.as_deref();
        named.is_none_or(|named| {
            named
                .as_name_expr()
                .is_some_and(|name| BASES.contains(&&*name.id))
        })
    })
}

/// Whether a dictionary or a set is made of one key again and again: whatever it loops over, the last
/// is left.
pub fn repeats_a_key(program: &Program) -> bool {
    let is_fixed = |key: &Expr, of: &[Comprehension]| {
        let names = |within: &Expr| -> Vec<String> {
            let nodes = program.tree().within(within.range());
            let names = nodes.filter_map(|node| Some(node.as_expr_name()?.id.to_string()));
            names.collect()
        };
        let bound: Vec<String> = of.iter().flat_map(|each| names(&each.target)).collect();
        let mut within = program.tree().within(key.range());
        let calls = within.any(|node| node.is_expr_call() || node.is_expr_await());
        !calls && !names(key).iter().any(|name| bound.contains(name))
    };
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::ExprDictComp(made) => is_fixed(&made.key, &made.generators),
        AnyNodeRef::ExprSetComp(made) => is_fixed(&made.elt, &made.generators),
        _ => false,
    })
}

/// The methods of loggers that take a format and what to put into it.
const LOGGING: [&str; 7] = [
    "critical",
    "debug",
    "error",
    "exception",
    "info",
    "warn",
    "warning",
];

/// Whether a message is logged with more or fewer things than its format has places for. It is not
/// formatted before somebody asks for its text.
pub fn logs_wrongly(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut calls = nodes.filter_map(|node| node.node.as_expr_call());
    calls.any(|call| {
        let method = call.func.as_attribute_expr();
        let [format, given @ ..] = &*call.arguments.args else {
            return false;
        };
        let Some(format) = format.as_string_literal_expr() else {
            return false;
        };
        let format = format.value.to_str().replace("%%", "");
        let is_plain = !format.contains(['*', '(']) && !given.iter().any(Expr::is_starred_expr);
        let places = format.matches('%').count();
        let logs = method.is_some_and(|method| LOGGING.contains(&method.attr.as_str()));
        logs && is_plain && !given.is_empty() && given.len() != places
    })
}

/// The methods whose results the language awaits.
const AWAITED: [&str; 3] = ["__aenter__", "__aexit__", "__anext__"];

/// Whether a method whose result the language awaits gives it nothing that can be awaited.
pub fn awaits_nothing(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut functions = nodes.filter_map(|node| node.node.as_stmt_function_def());
    functions.any(|function| {
        let mut within = program.tree().within(function.range);
        let gives = |node: AnyNodeRef<'_>| {
            let given = node.as_stmt_return();
            given.is_some_and(|given| given.value.is_some())
        };
        AWAITED.contains(&function.name.as_str()) && !function.is_async && !within.any(gives)
    })
}

/// The modules whose threads and processes run beside a program, and the methods by which it waits
/// for them.
const BESIDE: [&str; 2] = ["multiprocessing", "threading"];
const WAITING: [&str; 5] = ["acquire", "get", "join", "result", "wait"];

/// Whether a program starts threads or processes and waits for nothing: what it then finds is up to
/// chance.
pub fn waits_for_no_thread(program: &Program) -> bool {
    let imported = imported_modules(program);
    let mut modules = imported.iter().filter_map(|path| path.split('.').next());
    let calls = |names: &[&str]| {
        let mut nodes = program.tree().nodes.iter();
        nodes.any(|node| {
            let call = node.node.as_expr_call();
            let method = call.and_then(|call| call.func.as_attribute_expr());
            method.is_some_and(|method| names.contains(&method.attr.as_str()))
        })
    };
    modules.any(|module| BESIDE.contains(&module)) && calls(&["start"]) && !calls(&WAITING)
}

/// The classes of what one thread or task at a time may hold.
const LOCKS: [&str; 5] = [
    "BoundedSemaphore",
    "Condition",
    "Lock",
    "RLock",
    "Semaphore",
];

/// Whether something runs under a lock that is made for it alone: nobody else can hold that.
pub fn holds_own_lock(program: &Program) -> bool {
    let imported = ImportedNames::of(program.tree());
    let mut nodes = program.tree().nodes.iter();
    nodes.any(|node| {
        let AnyNodeRef::StmtWith(with) = node.node else {
            return false;
        };
        let mut contexts = with.items.iter().map(|item| &item.context_expr);
        contexts.any(|context| {
            let made = context.as_call_expr();
            let path = made.and_then(|made| imported.path(&made.func));
            let class = path.as_deref().and_then(|path| path.rsplit('.').next());
            class.is_some_and(|class| LOCKS.contains(&class))
        })
    })
}

/// Whether a call passes a function of Python's own fewer arguments than it takes.
pub fn calls_with_too_little(program: &Program) -> bool {
    let own = program.defined_names();
    program.tree().nodes.iter().any(|node| {
        let AnyNodeRef::ExprCall(call) = node.node else {
            return false;
        };
        let Expr::Name(name) = &*call.func else {
            return false;
        };
        let mut functions = LEAST_ARGUMENTS.iter();
        let least = functions.find(|(function, _)| *function == name.id.as_str());
        let is_unpacked = call.arguments.args.iter().any(Expr::is_starred_expr)
            || call
                .arguments
                .keywords
                .iter()
                .any(|keyword| keyword.arg.is_none());
        let has_too_little = least.is_some_and(|(_, least)| call.arguments.len() < *least);
        has_too_little && !is_unpacked && !own.contains(name.id.as_str())
    })
}

/// Whether a container or a number of the language's own is made of nothing, or something empty is
/// counted or gone through: `list()`, `len([])`.
pub fn makes_of_nothing(program: &Program) -> bool {
    const MAKING: [&str; 10] = [
        "bool",
        "bytes",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "set",
        "str",
        "tuple",
    ];
    const GOING_THROUGH: [&str; 7] = ["all", "any", "len", "max", "min", "sorted", "sum"];
    let own = program.defined_names();
    let mut nodes = program.tree().nodes.iter();
    nodes.any(|node| {
        let call = node.node.as_expr_call();
        let name = call.and_then(|call| call.func.as_name_expr());
        let name = name.map(|name| name.id.as_str());
        let (Some(call), Some(name)) = (call, name.filter(|name| !own.contains(*name))) else {
            return false;
        };
        let first = call.arguments.args.first();
        call.arguments.is_empty() && MAKING.contains(&name)
            || first.is_some_and(is_empty) && GOING_THROUGH.contains(&name)
    })
}

/// Whether a loop goes on as long as something holds that nothing in it changes: `while a != b: yield`.
pub fn loops_unchanged(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut loops = nodes.filter_map(|node| node.node.as_stmt_while().copied());
    loops.any(|repeated| {
        let name_of = |node: AnyNodeRef<'_>| match node {
            AnyNodeRef::ExprName(name) => Some((name.id.to_string(), name.ctx.is_load())),
            AnyNodeRef::ExprAttribute(part) => Some((part.attr.to_string(), part.ctx.is_load())),
            _ => None,
        };
        let condition = program.tree().within(repeated.test.range());
        let condition: Vec<_> = condition.collect();
        let read = condition.iter().filter_map(|node| Some(name_of(*node)?.0));
        let read: BTreeSet<String> = read.collect();
        // What a call, or whoever goes on after an `await`, finds may change by itself.
        let computes = condition.iter().any(|node| {
            node.is_expr_call()
                || node.is_expr_named()
                || node.is_expr_await()
                || node.is_expr_yield()
        });
        let mut body = repeated
            .body
            .iter()
            .flat_map(|part| program.tree().within(part.range()));
        // Any call may change what the condition reads.
        let changes = |node: AnyNodeRef<'_>| match node {
            AnyNodeRef::ExprCall(_) | AnyNodeRef::ExprAwait(_) => true,
            node => name_of(node).is_some_and(|(name, is_read)| !is_read && read.contains(&name)),
        };
        !read.is_empty() && !computes && !body.any(changes)
    })
}

/// Whether a function unpacks a plain parameter into the arguments of a call: `def f(args): g(*args)`.
/// What is passed for one that takes all arguments is a tuple; for a plain one it may be anything.
pub fn unpacks_parameters(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut functions = nodes.filter_map(|node| node.node.as_stmt_function_def().copied());
    functions.any(|function| {
        let parameters = function.parameters.iter_non_variadic_params();
        let plain: BTreeSet<&str> = parameters
            .map(|parameter| parameter.parameter.name.as_str())
            .collect();
        // A function within it may do so as well.
        let mut calls = program
            .tree()
            .within(function.range)
            .filter_map(|node| node.as_expr_call().copied());
        calls.any(|call| {
            let starred = call.arguments.args.iter();
            let starred = starred.filter_map(|argument| Some(&*argument.as_starred_expr()?.value));
            let keywords = call.arguments.keywords.iter();
            let mapped = keywords.filter(|keyword| keyword.arg.is_none());
            let mut unpacked = starred.chain(mapped.map(|keyword| &keyword.value));
            unpacked.any(|value| {
                let name = value.as_name_expr();
                name.is_some_and(|name| plain.contains(name.id.as_str()))
            })
        })
    })
}

/// Whether something is taken from itself, divided by itself or compared with itself: what comes of it
/// is known.
pub fn computes_with_itself(program: &Program) -> bool {
    const CANCELLING: [Operator; 5] = [
        Operator::BitXor,
        Operator::Div,
        Operator::FloorDiv,
        Operator::Mod,
        Operator::Sub,
    ];
    let is_same = |one: &Expr, other: &Expr| {
        let is_plain = one.is_name_expr() || one.is_attribute_expr();
        is_plain && program.slice(one.range()) == program.slice(other.range())
    };
    let mut nodes = program.tree().nodes.iter();
    nodes.any(|node| match node.node {
        AnyNodeRef::ExprBinOp(it) => CANCELLING.contains(&it.op) && is_same(&it.left, &it.right),
        AnyNodeRef::ExprCompare(it) => it.comparators.iter().any(|other| is_same(&it.left, other)),
        _ => false,
    })
}

/// Whether a constant is called, by itself or by the name of a variable that is never anything else.
pub fn calls_constants(program: &Program) -> bool {
    let nodes = &program.tree().nodes;
    let assigns = nodes.iter().filter_map(|node| node.node.as_stmt_assign());
    let pairs = assigns.flat_map(|assign| {
        let targets = assign.targets.iter();
        targets.flat_map(|target| pairs(target, &assign.value))
    });
    let constants: Vec<&str> = pairs
        .filter(|(_, value)| value.is_literal_expr() && !value.is_none_literal_expr())
        .filter_map(|(target, _)| Some(target.as_name_expr()?.id.as_str()))
        .collect();
    let variables = &program.scopes().variables;
    let is_constant = |name: &str| {
        let named = variables.iter().filter(|variable| variable.name == name);
        let bindings: usize = named.map(|variable| variable.bindings.len()).sum();
        let known = constants.iter().filter(|constant| **constant == name);
        bindings > 0 && bindings == known.count()
    };
    let mut calls = nodes.iter().filter_map(|node| node.node.as_expr_call());
    calls.any(|call| match &*call.func {
        Expr::Name(name) => is_constant(&name.id),
        called => called.is_literal_expr(),
    })
}

/// What an assignment binds, each with its value as far as it is written out.
fn pairs<'a>(target: &'a Expr, value: &'a Expr) -> Vec<(&'a Expr, &'a Expr)> {
    let parts = |expr: &'a Expr| match expr {
        Expr::Tuple(row) => Some(&row.elts),
        Expr::List(row) => Some(&row.elts),
        _ => None,
    };
    match (parts(target), parts(value)) {
        (Some(targets), Some(values)) if targets.len() == values.len() => {
            let each = targets.iter().zip(values);
            each.flat_map(|(target, value)| pairs(target, value))
                .collect()
        }
        _ => vec![(target, value)],
    }
}
