//! The tables of the review: dotted paths that are a concern, with the reason. Pure data and
//! lookups.

use super::Concern;

/// Paths that are a concern wherever they are named, called or not, with everything below them.
const ANYWHERE: &[(&str, Concern, &str)] = &[
    ("requests", Concern::Network, "uses HTTP"),
    (
        "urllib.request",
        Concern::Network,
        "fetches from the network",
    ),
    (
        "urllib.urlopen",
        Concern::Network,
        "fetches from the network",
    ),
    ("urllib2", Concern::Network, "fetches from the network"),
    ("urllib3", Concern::Network, "uses HTTP"),
    ("http.client", Concern::Network, "uses HTTP"),
    ("http.server", Concern::Network, "serves HTTP"),
    ("httpx", Concern::Network, "uses HTTP"),
    ("aiohttp", Concern::Network, "uses HTTP"),
    ("ftplib", Concern::Network, "uses FTP"),
    ("smtplib", Concern::Network, "sends mail"),
    ("telnetlib", Concern::Network, "uses telnet"),
    ("poplib", Concern::Network, "reads mail"),
    ("imaplib", Concern::Network, "reads mail"),
    ("xmlrpc", Concern::Network, "calls other machines"),
    ("paramiko", Concern::Network, "uses SSH"),
    ("websocket", Concern::Network, "connects to other machines"),
    ("websockets", Concern::Network, "connects to other machines"),
    ("pycurl", Concern::Network, "fetches from the network"),
    ("wget", Concern::Network, "fetches from the network"),
    ("gdown", Concern::Network, "fetches from the network"),
    ("boto3", Concern::Network, "connects to a cloud"),
    ("webbrowser", Concern::Network, "opens a browser"),
    ("socketserver", Concern::Network, "serves other machines"),
    (
        "asyncio.open_connection",
        Concern::Network,
        "connects to other machines",
    ),
    (
        "asyncio.start_server",
        Concern::Network,
        "serves other machines",
    ),
    ("huggingface_hub", Concern::Network, "downloads models"),
    (
        "datasets.load_dataset",
        Concern::Network,
        "downloads a data set",
    ),
    ("torch.hub", Concern::Network, "downloads code and models"),
    (
        "torch.utils.model_zoo",
        Concern::Network,
        "downloads models",
    ),
    ("os.system", Concern::Commands, "runs a command"),
    ("os.popen", Concern::Commands, "runs a command"),
    ("os.startfile", Concern::Commands, "runs a program"),
    ("os.posix_spawn", Concern::Commands, "runs a program"),
    ("os.posix_spawnp", Concern::Commands, "runs a program"),
    ("posix", Concern::Commands, "is another name of `os`"),
    ("commands", Concern::Commands, "runs commands"),
    ("pty", Concern::Commands, "runs commands"),
    ("pexpect", Concern::Commands, "runs commands"),
    ("sh", Concern::Commands, "runs commands"),
    (
        "asyncio.create_subprocess_shell",
        Concern::Commands,
        "runs a command",
    ),
    (
        "asyncio.create_subprocess_exec",
        Concern::Commands,
        "runs a program",
    ),
    ("ctypes", Concern::Commands, "calls native code"),
    ("cffi", Concern::Commands, "calls native code"),
    ("_ctypes", Concern::Commands, "calls native code"),
    ("builtins.eval", Concern::Commands, "runs a text as code"),
    ("builtins.exec", Concern::Commands, "runs a text as code"),
    (
        "builtins.compile",
        Concern::Commands,
        "creates code from a text",
    ),
    ("builtins.execfile", Concern::Commands, "runs another file"),
    ("code.interact", Concern::Commands, "runs typed code"),
    (
        "code.InteractiveInterpreter",
        Concern::Commands,
        "runs a text as code",
    ),
    (
        "code.InteractiveConsole",
        Concern::Commands,
        "runs a text as code",
    ),
    ("codeop", Concern::Commands, "creates code from a text"),
    ("runpy", Concern::Commands, "runs another file"),
    (
        "torch.utils.cpp_extension.load",
        Concern::Commands,
        "compiles and runs native code",
    ),
    (
        "torch.utils.cpp_extension.load_inline",
        Concern::Commands,
        "compiles and runs native code",
    ),
    (
        "torch.ops.load_library",
        Concern::Commands,
        "runs native code",
    ),
    (
        "torch.classes.load_library",
        Concern::Commands,
        "runs native code",
    ),
    (
        "importlib.machinery",
        Concern::Commands,
        "imports by a path",
    ),
    (
        "importlib.util.spec_from_file_location",
        Concern::Commands,
        "imports by a path",
    ),
    ("imp.load_source", Concern::Commands, "imports by a path"),
    ("dill", Concern::Loading, "unpickles"),
    ("cloudpickle.load", Concern::Loading, "unpickles"),
    ("cloudpickle.loads", Concern::Loading, "unpickles"),
    ("joblib.load", Concern::Loading, "unpickles a file"),
    ("shelve", Concern::Loading, "unpickles a file"),
    ("pandas.read_pickle", Concern::Loading, "unpickles a file"),
    ("torch.package", Concern::Loading, "runs code from a file"),
    ("yaml.load", Concern::Loading, "creates objects from a text"),
    (
        "yaml.unsafe_load",
        Concern::Loading,
        "creates objects from a text",
    ),
    ("marshal", Concern::Obfuscation, "creates code from bytes"),
    ("pip", Concern::Installing, "runs pip"),
    ("ensurepip", Concern::Installing, "installs pip"),
    ("conda.cli", Concern::Installing, "runs conda"),
    (
        "setuptools.setup",
        Concern::Installing,
        "installs a package",
    ),
    (
        "os.putenv",
        Concern::Environment,
        "sets a variable behind Python's back",
    ),
    ("os.unsetenv", Concern::Environment, "removes a variable"),
    (
        "os.path.expanduser",
        Concern::Files,
        "leads to the home folder",
    ),
    (
        "pathlib.Path.home",
        Concern::Files,
        "leads to the home folder",
    ),
    (
        "pathlib.Path().home",
        Concern::Files,
        "leads to the home folder",
    ),
    (
        "pathlib.Path().expanduser",
        Concern::Files,
        "leads to the home folder",
    ),
    ("os.chmod", Concern::Files, "changes the rights of a file"),
    ("os.chown", Concern::Files, "changes the owner of a file"),
    ("os.remove", Concern::Files, "removes a file"),
    ("os.unlink", Concern::Files, "removes a file"),
    ("os.rmdir", Concern::Files, "removes a folder"),
    ("os.removedirs", Concern::Files, "removes folders"),
    ("os.rename", Concern::Files, "moves a file"),
    ("os.renames", Concern::Files, "moves a file"),
    ("os.replace", Concern::Files, "replaces a file"),
    ("os.symlink", Concern::Files, "creates a link"),
    ("os.link", Concern::Files, "creates a link"),
    ("os.truncate", Concern::Files, "truncates a file"),
    ("os.mkfifo", Concern::Files, "creates a pipe"),
    ("os.chroot", Concern::Files, "changes the root folder"),
    (
        "shutil.rmtree",
        Concern::Files,
        "removes a folder with its contents",
    ),
    ("shutil.move", Concern::Files, "moves files"),
    ("shutil.copy", Concern::Files, "copies files"),
    ("shutil.copy2", Concern::Files, "copies files"),
    ("shutil.copyfile", Concern::Files, "copies a file"),
    ("shutil.copytree", Concern::Files, "copies a folder"),
    (
        "shutil.chown",
        Concern::Files,
        "changes the owner of a file",
    ),
    ("shutil.make_archive", Concern::Files, "packs files"),
    ("shutil.unpack_archive", Concern::Files, "unpacks files"),
    (
        "zipfile.ZipFile().extractall",
        Concern::Files,
        "unpacks files",
    ),
    ("tarfile.open().extractall", Concern::Files, "unpacks files"),
    ("fileinput", Concern::Files, "may change files in place"),
];

/// Functions that run the command of their first argument. `torchrun` is exempt.
const LAUNCHERS: &[&str] = &[
    "subprocess.run",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "subprocess._args_from_interpreter_flags",
];

/// The concern of a path wherever it is named.
pub(super) fn anywhere(path: &str) -> Option<(Concern, &'static str)> {
    let is_below = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with('.')
                || rest.starts_with('(')
                || rest.starts_with('[')
        })
    };
    // A module alone does nothing: `import requests` only names it.
    let is_bare_module = !path.contains('.') && !path.contains('(');
    if is_bare_module {
        return None;
    }
    let is_exec = path.strip_prefix("os.").is_some_and(|name| {
        let name = name.split(['(', '.']).next().unwrap_or_default();
        (name.starts_with("exec") || name.starts_with("spawn")) && name.len() <= 8
    });
    if is_exec {
        return Some((Concern::Commands, "runs a program"));
    }
    ANYWHERE
        .iter()
        .find(|(root, ..)| is_below(root))
        .map(|(_, concern, what)| (*concern, *what))
}

/// Whether a path is a function that runs a command.
pub(super) fn is_launcher(path: &str) -> bool {
    LAUNCHERS.contains(&path)
}

/// Functions that read the file or folder that their first argument names.
pub(super) fn reads_path(path: &str) -> bool {
    matches!(
        path,
        "builtins.open"
            | "io.open"
            | "codecs.open"
            | "os.open"
            | "os.listdir"
            | "os.scandir"
            | "os.walk"
            | "os.stat"
            | "os.chdir"
            | "os.makedirs"
            | "os.mkdir"
            | "os.access"
            | "glob.glob"
            | "glob.iglob"
            | "pathlib.Path"
            | "pathlib.PosixPath"
            | "numpy.load"
            | "numpy.fromfile"
            | "numpy.loadtxt"
            | "numpy.memmap"
            | "numpy.save"
            | "numpy.savez"
            | "numpy.savetxt"
            | "pandas.read_csv"
            | "pandas.read_json"
            | "pandas.read_parquet"
            | "torch.save"
            | "torch.from_file"
            | "gzip.open"
            | "bz2.open"
            | "zipfile.ZipFile"
            | "tarfile.open"
            | "sqlite3.connect"
            | "PIL.Image.open"
            | "json.load"
            | "linecache.getline"
            | "linecache.getlines"
            | "mmap.mmap"
            | "sys.path.append"
            | "sys.path.insert"
            | "site.addsitedir"
            | "torch.export.save"
    )
}

/// Functions that unpickle or load code from what their first argument names.
pub(super) fn loads(path: &str) -> Option<&'static str> {
    Some(match path {
        "torch.load" | "numpy.load" => "unpickles a file",
        "pickle.load" | "pickle.loads" | "_pickle.loads" | "_pickle.load" | "cPickle.loads"
        | "cPickle.load" | "pickle.Unpickler" => "unpickles",
        "torch.jit.load" => "loads code from a file",
        "torch.export.load"
        | "torch._export.aot_load"
        | "torch._inductor.aoti_load_package"
        | "torch._inductor.package.load_package" => "loads a compiled program",
        "safetensors.torch.load_file" | "safetensors.safe_open" | "safetensors.numpy.load_file" => {
            "loads weights from a file"
        }
        "onnx.load" | "onnxruntime.InferenceSession" => "loads a model from a file",
        _ => return None,
    })
}

/// Methods of any object that write files.
pub(super) fn writes_by_name(method: &str) -> Option<&'static str> {
    Some(match method {
        "write_text" | "write_bytes" => "writes a file",
        "symlink_to" | "hardlink_to" => "creates a link",
        "extractall" => "unpacks files",
        _ => return None,
    })
}

/// Methods of `pathlib` that change files.
pub(super) fn changes_path(method: &str) -> bool {
    matches!(
        method,
        "unlink"
            | "rmdir"
            | "rename"
            | "replace"
            | "touch"
            | "mkdir"
            | "chmod"
            | "open"
            | "write_text"
            | "write_bytes"
    )
}

/// Attributes that lead from any object to the internals of the interpreter.
pub(super) fn is_internal(name: &str) -> bool {
    matches!(
        name,
        "__subclasses__"
            | "__globals__"
            | "__builtins__"
            | "__loader__"
            | "f_globals"
            | "f_builtins"
    )
}
