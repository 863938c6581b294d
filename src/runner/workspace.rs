//! The folders and settings of a session, and what follows from them for each run: its scratch
//! folder, its command, its environment, its bounds and its limits. Starts nothing. Called by the
//! backends and the zygotes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use minrepro_reducers::torch::packages::KEPT;

use super::{
    bounds::{Bounds, Confinement},
    copies::copied,
    environment::{
        EnvironmentDifference, compiler_folder, difference, environment, inherited_variables,
        model_caches,
    },
    error::RunError,
    job::{ARTIFACTS, Job},
    limits::size_of,
    orders::{DiskLimits, Launch, RunLimits, RunOrder},
    outcome::{End, Resource},
    python,
    removal::remove,
    scratch::Scratch,
    setup::{Command, Setup},
    siblings::Siblings,
    stock::Stock,
};

/// The folder within the session's cache for headers that PyTorch's compiler has compiled.
const HEADERS: &str = "headers";

/// The file within the session's root that runs have as their standard input.
const INPUT: &str = "input";

/// The surroundings that all runs of a session share.
pub(super) struct Workspace {
    pub(super) setup: Setup,
    pub(super) root: PathBuf,
    pub(super) stock: Arc<Stock>,
    pub(super) confinement: Confinement,
    runs: AtomicU64,
    /// Variables for every run from now on, besides those of the setup.
    variables: Mutex<Vec<(String, String)>>,
    user_environment: Vec<(String, String)>,
    /// The name of the folder for temporary files in which PyTorch's compiler keeps files for
    /// reuse.
    compiler_folder: Option<String>,
    /// Folders of which each run may write to a copy of its own: those that the user allowed, and
    /// the model caches.
    copied: Vec<PathBuf>,
}

impl Workspace {
    /// Makes the session's scratch root. Nothing is confined yet.
    pub(super) fn make(setup: Setup) -> Result<Self, RunError> {
        let temporary = std::env::temp_dir();
        let unprepared = |source| RunError::Scratch {
            folder: temporary.clone(),
            source,
        };
        // Once for the session: changes by the user meanwhile must not change verdicts.
        let siblings = Siblings::of(&setup.script).map_err(unprepared)?;
        let prefix = format!("minrepro-{}-", std::process::id());
        // The guard removes the root, not this handle, so that it goes even after a kill -9.
        let root = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&temporary)
            .map_err(unprepared)?
            .keep();
        let root = root.canonicalize().map_err(unprepared)?;
        std::fs::create_dir_all(root.join("cache").join(HEADERS)).map_err(unprepared)?;
        if let Some(input) = &setup.input {
            std::fs::File::create_new(root.join(INPUT))
                .and_then(|mut file| std::io::Write::write_all(&mut file, input))
                .map_err(unprepared)?;
        }
        if matches!(setup.command, Command::Python { .. }) {
            python::unpack(&root).map_err(unprepared)?;
        }
        let user_environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = user_environment.iter().chain(&setup.env).cloned().collect();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let copied = copied(&setup.allowed.folders, model_caches(&named), &root);
        let compiler_folder = compiler_folder(&named, &users, rustix::process::getuid().as_raw());
        Ok(Self {
            setup,
            stock: Arc::new(Stock::new(siblings, &root).map_err(unprepared)?),
            root,
            confinement: Confinement::Off,
            runs: AtomicU64::new(0),
            variables: Mutex::default(),
            user_environment,
            compiler_folder,
            copied,
        })
    }

    /// How many runs may be under way at a time.
    pub(super) fn jobs(&self) -> usize {
        self.setup.jobs.max(1)
    }

    /// Sets variables for every run from now on, besides those of the setup.
    pub(super) fn set_variables(&self, variables: Vec<(String, String)>) {
        *self
            .variables
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = variables;
    }

    /// The differences between the environment of runs and the user's.
    pub(super) fn difference(&self) -> EnvironmentDifference {
        let user = &self.user_environment;
        difference(user, &self.setup.env, self.setup.inherited)
    }

    /// The user's variables that runs get and that may change their behaviour.
    pub(super) fn inherited_variables(&self) -> BTreeMap<String, String> {
        inherited_variables(&self.user_environment, self.setup.inherited)
    }

    /// The session's cache folder, which all runs share.
    pub(super) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The limits of the session on disk: half of the space is for the cache, the other half for
    /// the current runs.
    fn disk(&self) -> DiskLimits {
        let all = self.setup.limits.scratch;
        DiskLimits {
            session: self.root.clone(),
            all,
            cache: self.cache(),
            cached: all / 2,
            share: all / 2 / self.jobs() as u64,
        }
    }

    /// Empties the session's cache after a run that it has ended by its size: it would end all
    /// others.
    pub(super) fn after(&self, end: End) {
        let most = self.disk().cached;
        if end != End::Limit(Resource::Scratch) || size_of(&self.cache(), most) <= most {
            return;
        }
        for entry in std::fs::read_dir(self.cache())
            .into_iter()
            .flatten()
            .flatten()
        {
            remove(&entry.path());
        }
        // Without it the compiler makes its headers in each run.
        let _ = std::fs::create_dir(self.cache().join(HEADERS));
    }

    /// The error for a folder of a run that cannot be made or filled.
    pub(super) fn unprepared(&self, source: std::io::Error) -> RunError {
        RunError::Scratch {
            folder: self.root.clone(),
            source,
        }
    }

    /// The folders of one more run.
    pub(super) fn scratch(&self, job: &Job) -> Result<Scratch, RunError> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        Scratch::make(
            &self.root,
            number,
            &self.setup.script,
            &job.source,
            &self.stock,
        )
        .and_then(|scratch| self.share_headers(&scratch.temporary).map(|()| scratch))
        .map_err(|source| self.unprepared(source))
    }

    /// Links the folder in which PyTorch's compiler keeps headers, within a folder for temporary
    /// files, to the session's cache.
    pub(super) fn share_headers(&self, temporary: &Path) -> std::io::Result<()> {
        let Some(folder) = &self.compiler_folder else {
            return Ok(());
        };
        std::os::unix::fs::symlink(self.cache().join(HEADERS), temporary.join(folder))
    }

    /// The bounds of a run that may write to these folders.
    pub(super) fn bounds(&self, writable: Vec<PathBuf>) -> Bounds {
        let program = match &self.setup.command {
            Command::Python { python, .. } => Some(python.clone()),
            Command::Test(_) => None,
        };
        let folder = self
            .setup
            .script
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        Bounds {
            confinement: self.confinement,
            writable,
            readable: program
                .into_iter()
                .chain(folder.map(Path::to_owned))
                .collect(),
            shared_memory: self.setup.limits.memory / 2,
            nests: false,
            sockets: Vec::new(),
            network: self.setup.allowed.network,
            overlays: if self.confinement.is_whole() {
                self.copied.clone()
            } else {
                Vec::new()
            },
        }
    }

    /// The command that runs a candidate.
    pub(super) fn argv(&self, candidate: &Path) -> Vec<String> {
        let candidate = candidate.to_string_lossy().into_owned();
        match &self.setup.command {
            Command::Python { python, args } => {
                let args = args.iter().map(|arg| arg.to_string_lossy().into_owned());
                [python.to_string_lossy().into_owned(), candidate]
                    .into_iter()
                    .chain(args)
                    .collect()
            }
            Command::Test(words) => words.iter().cloned().chain([candidate]).collect(),
        }
    }

    /// The order to run a job in its folders.
    pub(super) fn run_order(&self, scratch: &Scratch, job: &Job) -> std::io::Result<RunOrder> {
        let mut argv = self.argv(&scratch.candidate);
        if let Some(interpreter) = &job.interpreter {
            argv[0] = interpreter.to_string_lossy().into_owned();
        }
        let question = (job.traced && job.hangs).then(|| scratch.question());
        if job.traced && matches!(self.setup.command, Command::Python { .. }) {
            let [tracer, out] = [python::tracer(&self.root), scratch.trace()]
                .map(|path| path.to_string_lossy().into_owned());
            let sought = serde_json::to_string(&*job.sought)?;
            let crash_stack = serde_json::to_string(&*job.crash_stack)?;
            let covered = serde_json::to_string(&self.setup.covered.patterns(KEPT))?;
            let question = question.as_ref();
            let question = question.map_or_else(String::new, |path| path.to_string_lossy().into());
            let last = job.keeps_last.then(|| scratch.last_lines());
            let last = last.map_or_else(String::new, |path| path.to_string_lossy().into());
            // The script and its arguments follow the tracer's.
            let ours = [tracer, out, sought, crash_stack, covered, question, last];
            argv.splice(1..1, ours);
        }
        let Scratch {
            root,
            work,
            temporary,
            ..
        } = scratch;
        let writable = [root.clone(), self.cache()];
        let mut order = self.order(argv, [root, work, temporary], writable.into(), job.timeout);
        let interpreter = job.interpreter.iter();
        (order.bounds.readable).extend(interpreter.map(|path| path.to_path_buf()));
        order.limits.idle = job.idle;
        order.limits.question = question;
        if job.artifacts.is_some() {
            std::fs::create_dir(scratch.artifacts())?;
            let folder = scratch.artifacts().to_string_lossy().into_owned();
            order.program.env.insert(ARTIFACTS.to_owned(), folder);
        }
        // Last, so that they win over the user's own.
        for (name, value) in &*job.variables {
            match value {
                Some(value) => order.program.env.insert(name.clone(), value.clone()),
                None => order.program.env.remove(name),
            };
        }
        Ok(order)
    }

    /// The order to run a command: in which folders (the one whose size is limited, the working
    /// folder, the one for temporary files), with which of all folders writable, for how long if it
    /// had a core to itself.
    pub(super) fn order(
        &self,
        argv: Vec<String>,
        [scratch, work, temporary]: [&Path; 3],
        writable: Vec<PathBuf>,
        timeout: Duration,
    ) -> RunOrder {
        let limits = &self.setup.limits;
        let variables = self
            .variables
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let own: Vec<_> = self.setup.env.iter().cloned().chain(variables).collect();
        let folders = [work, temporary, &self.cache()];
        let inherited = self.setup.inherited;
        let env = environment(&self.user_environment, inherited, &own, folders);
        RunOrder {
            program: Launch {
                argv,
                env,
                work: work.to_owned(),
                input: self.setup.input.as_ref().map(|_| self.root.join(INPUT)),
                file_size: limits.file_size,
                inherited: None,
            },
            bounds: self.bounds(writable),
            limits: RunLimits {
                timeout,
                idle: None,
                question: None,
                memory: limits.memory,
                processes: limits.processes,
                scratch: scratch.to_owned(),
                disk: self.disk(),
                shows_stack: matches!(self.setup.command, Command::Python { .. }),
            },
        }
    }
}
