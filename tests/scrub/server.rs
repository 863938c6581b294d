//! GitHub as far as `gh` sees it, behind a Unix socket: an issue with its comments in pages,
//! labels, a lock, rights, a subscription that follows what is written with delay; and faults at
//! any call.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::command;

/// What GitHub knows.
pub(super) struct World {
    pub(super) issue: Value,
    pub(super) comments: Vec<Value>,
    /// Labels that the repository has.
    pub(super) labels: Vec<String>,
    /// Who may push.
    pub(super) collaborators: Vec<String>,
    /// Whether this login may ask who may push.
    pub(super) may_ask: bool,
    pub(super) subscription: String,
    /// How long it takes until who wrote is subscribed.
    pub(super) delay: Duration,
    subscribed_at: Option<Instant>,
    /// What was asked, in order.
    pub(super) calls: Vec<String>,
    /// What goes wrong, at the call of this index.
    pub(super) fault: Option<(usize, Fault)>,
    /// The scrub that speaks to it.
    pub(super) scrub: Option<u32>,
    /// Other issues by their numbers, without comments; `null` for one that was deleted.
    pub(super) elsewhere: BTreeMap<u64, Value>,
    /// What happens to the issue once it has been read.
    pub(super) meanwhile: Option<fn(&mut Self)>,
    /// The issues that a search finds.
    pub(super) others: Vec<Self>,
    /// An issue that the search finds and nobody may read.
    pub(super) hidden: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is cut before anything is done.
    CutBefore,
    /// The connection is cut when all is done.
    CutAfter,
    /// An error of the server.
    Status(u16),
    /// `gh` is killed when all is done.
    Killed,
    /// The user presses Ctrl-C so many times before the answer comes.
    CtrlC(u8),
    /// The answer takes so many seconds.
    Slow(u64),
    /// The call takes effect, and is answered, after so many seconds.
    Late(u64),
}

pub(super) struct Server {
    pub(super) world: Arc<Mutex<World>>,
    folder: PathBuf,
}

impl World {
    pub(super) fn new(issue: Value) -> Self {
        Self {
            issue,
            comments: Vec::new(),
            labels: [
                "triaged",
                "feature",
                "better-engineering",
                "tracker",
                "needs reproduction",
            ]
            .map(str::to_owned)
            .to_vec(),
            collaborators: vec!["op".to_owned()],
            may_ask: true,
            subscription: "UNSUBSCRIBED".to_owned(),
            delay: Duration::ZERO,
            subscribed_at: None,
            calls: Vec::new(),
            fault: None,
            scrub: None,
            elsewhere: BTreeMap::new(),
            meanwhile: None,
            others: Vec::new(),
            hidden: None,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.issue["number"].as_u64().unwrap()
    }

    /// The place among the others of the issue that a call is about.
    fn other(&self, path: &str, body: &Value) -> Option<usize> {
        let in_path = path.split("/issues/").nth(1).and_then(|rest| {
            let digits = rest.split(['/', '?']).next()?;
            digits.parse().ok()
        });
        let variables = &body["variables"];
        let input = &variables["input"];
        let ids = [
            &variables["id"],
            &input["subjectId"],
            &input["labelableId"],
            &input["issueId"],
        ];
        let in_id = ids.iter().find_map(|id| {
            let digits = id.as_str()?.strip_prefix("I_")?;
            digits.parse().ok()
        });
        let number: u64 = in_path.or(in_id).or_else(|| variables["number"].as_u64())?;
        self.others
            .iter()
            .position(|other| other.number() == number)
    }

    /// A page of what a search finds.
    fn search(&self, path: &str) -> Value {
        let parameter = |name: &str| -> usize {
            let mut parts = path.split(['?', '&']);
            let value = parts.find_map(|part| part.strip_prefix(name));
            value.unwrap().parse().unwrap()
        };
        let (page, size) = (parameter("page="), parameter("per_page="));
        let mut all: Vec<Value> = self
            .others
            .iter()
            .map(|world| json!({"number": world.number(), "title": world.issue["title"]}))
            .collect();
        all.extend(
            self.hidden
                .map(|number| json!({"number": number, "title": "hidden"})),
        );
        let total = all.len();
        for item in &mut all {
            item["repository_url"] = "https://api.github.com/repos/o/r".into();
        }
        let shown: Vec<Value> = all.into_iter().skip((page - 1) * size).take(size).collect();
        json!({"total_count": total, "incomplete_results": false, "items": shown})
    }

    pub(super) fn label_names(&self) -> Vec<String> {
        self.issue["labels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label["name"].as_str().unwrap().to_owned())
            .collect()
    }

    fn subscription_now(&mut self) -> String {
        if self.subscribed_at.is_some_and(|at| at <= Instant::now()) {
            self.subscribed_at = None;
            "SUBSCRIBED".clone_into(&mut self.subscription);
        }
        self.subscription.clone()
    }

    fn subscribe_soon(&mut self) {
        if self.subscription != "SUBSCRIBED" {
            self.subscribed_at = Some(Instant::now() + self.delay);
        }
    }

    /// The name of a call, for the record.
    fn name(method: &str, path: &str, body: &Value) -> String {
        if path.starts_with("/graphql") {
            let query = body["query"].as_str().unwrap_or_default();
            let input = &body["variables"]["input"];
            return if query.contains("updateSubscription") {
                let state = query
                    .split("state: ")
                    .nth(1)
                    .unwrap()
                    .split('}')
                    .next()
                    .unwrap();
                format!("set subscription {state}")
            } else if query.contains("viewerSubscription") {
                "ask subscription".to_owned()
            } else if query.contains("addComment(") {
                "add comment".to_owned()
            } else if query.contains("addLabelsToLabelable") {
                "add labels".to_owned()
            } else if query.contains("removeLabelsFromLabelable") {
                "remove labels".to_owned()
            } else if query.contains("closeIssue") {
                format!("close {}", input["stateReason"].as_str().unwrap_or("?"))
            } else if query.contains("labels(first") && query.contains("RepositoryLabelList") {
                "list labels".to_owned()
            } else if query.contains("issueOrPullRequest") {
                "find issue".to_owned()
            } else {
                format!("? {query}")
            };
        }
        let short = path
            .trim_start_matches("/repos/o/r/")
            .replace("?per_page=100", "");
        format!("{method} {short}")
    }

    /// Records a call; its index. What happens meanwhile happens after the issue was read.
    fn record(&mut self, call: String) -> usize {
        if call.starts_with("GET collaborators")
            && let Some(change) = self.meanwhile.take()
        {
            change(self);
        }
        self.calls.push(call);
        self.calls.len() - 1
    }

    /// The answer to a call: status, headers, body.
    fn answer(&mut self, method: &str, path: &str, body: &Value) -> (u16, String, Value) {
        let plain = |value: Value| (200, String::new(), value);
        if let Some(at) = self.other(path, body) {
            let other = &mut self.others[at];
            other.calls.push(Self::name(method, path, body));
            return other.answer(method, path, body);
        }
        if path.starts_with("/search/issues") {
            return plain(self.search(path));
        }
        if path == "/rate_limit" {
            let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
            let used_up = json!({"limit": 5000, "remaining": 0, "reset": now});
            return plain(json!({"resources": {"core": used_up}}));
        }
        if path.starts_with("/graphql") {
            return plain(self.graphql(body));
        }
        let below = path.strip_prefix("/repos/o/r/").unwrap_or_default();
        if method != "GET" {
            return (405, String::new(), json!({"message": "no"}));
        }
        let own = format!("issues/{}", self.number());
        if below == own {
            return plain(self.issue.clone());
        }
        if let Some(answer) = self.elsewhere(below) {
            return answer;
        }
        if let Some(query) = below.strip_prefix(&format!("{own}/comments")) {
            // Pages of two, whatever was asked for.
            let page: usize = query
                .split("page=")
                .nth(2)
                .and_then(|number| number.parse().ok())
                .unwrap_or(1);
            let shown: Vec<Value> = self
                .comments
                .iter()
                .skip((page - 1) * 2)
                .take(2)
                .cloned()
                .collect();
            let link = if self.comments.len() > page * 2 {
                format!(
                    "Link: <https://api.github.com/repos/o/r/{own}/comments?per_page=100&page={}>; rel=\"next\"\r\n",
                    page + 1
                )
            } else {
                String::new()
            };
            return (200, link, Value::Array(shown));
        }
        if let Some(user) = below.strip_prefix("collaborators/") {
            return match (
                self.may_ask,
                self.collaborators.iter().any(|name| name == user),
            ) {
                (false, _) => (
                    403,
                    String::new(),
                    json!({"message": "Must have push access to view repository collaborators."}),
                ),
                (true, true) => (204, String::new(), Value::Null),
                (true, false) => (404, String::new(), json!({"message": "Not Found"})),
            };
        }
        (404, String::new(), json!({"message": "Not Found"}))
    }

    /// The answer to a call for another issue.
    fn elsewhere(&self, below: &str) -> Option<(u16, String, Value)> {
        let (number, below) = below.strip_prefix("issues/")?.split_once('/').map_or_else(
            || (below.trim_start_matches("issues/"), ""),
            |(number, below)| (number, below),
        );
        let issue = self.elsewhere.get(&number.parse().ok()?)?;
        Some(match issue {
            Value::Null => (
                410,
                String::new(),
                json!({"message": "This issue was deleted"}),
            ),
            _ if below.starts_with("comments") => (200, String::new(), json!([])),
            issue => (200, String::new(), issue.clone()),
        })
    }

    fn graphql(&mut self, body: &Value) -> Value {
        let query = body["query"].as_str().unwrap_or_default();
        let input = &body["variables"]["input"];
        if query.contains("updateSubscription") {
            let state = query
                .split("state: ")
                .nth(1)
                .unwrap()
                .split('}')
                .next()
                .unwrap()
                .to_owned();
            self.subscription.clone_from(&state);
            self.subscribed_at = None;
            return json!({"data": {"updateSubscription": {"subscribable": {"viewerSubscription": state}}}});
        }
        if query.contains("viewerSubscription") {
            let state = self.subscription_now();
            return json!({"data": {"node": {"viewerSubscription": state}}});
        }
        if query.contains("addComment(") {
            let number = self.comments.len();
            self.comments.push(json!({
                "body": input["body"], "user": {"login": "me", "type": "User"}, "author_association": "MEMBER",
                "created_at": "2026-10-01T00:00:00Z",
            }));
            self.subscribe_soon();
            return json!({"data": {"addComment": {"commentEdge": {"node": {"url": format!("https://github.com/o/r/issues/7#issuecomment-{number}")}}}}});
        }
        if query.contains("addLabelsToLabelable") || query.contains("removeLabelsFromLabelable") {
            return self.change_labels(query.contains("addLabelsToLabelable"), input);
        }
        if query.contains("closeIssue") {
            self.issue["state"] = "closed".into();
            self.issue["state_reason"] = input["stateReason"]
                .as_str()
                .unwrap_or("completed")
                .to_lowercase()
                .into();
            self.subscribe_soon();
            return json!({"data": {"closeIssue": {"issue": {"id": "I_7"}}}});
        }
        let label = |name: &String| json!({"id": format!("L_{name}"), "name": name});
        if query.contains("RepositoryLabelList") {
            let nodes: Vec<Value> = self.labels.iter().map(label).collect();
            return json!({"data": {"repository": {"labels": {"nodes": nodes, "pageInfo": {"hasNextPage": false, "endCursor": ""}}}}});
        }
        self.asked_issue(query)
    }

    fn change_labels(&mut self, adds: bool, input: &Value) -> Value {
        let ids = input["labelIds"].as_array().unwrap().iter();
        let names: Vec<&str> = ids
            .map(|label| label.as_str().unwrap().trim_start_matches("L_"))
            .collect();
        let mut now = self.label_names();
        if adds {
            let is_new = |name: &&str| !now.iter().any(|label| label == name);
            let new: Vec<_> = names
                .into_iter()
                .filter(is_new)
                .map(str::to_owned)
                .collect();
            now.extend(new);
        } else {
            now.retain(|label| !names.contains(&label.as_str()));
        }
        self.issue["labels"] = now.iter().map(|name| json!({"name": name})).collect();
        let verb = if adds {
            "addLabelsToLabelable"
        } else {
            "removeLabelsFromLabelable"
        };
        json!({"data": {verb: {"__typename": "x"}}})
    }

    /// The fields of the issue that a query names.
    fn asked_issue(&self, query: &str) -> Value {
        let asked = query.split("...on Issue{").nth(1).unwrap_or_default();
        let mut issue = json!({"__typename": "Issue"});
        for (field, value) in [
            ("id", json!(format!("I_{}", self.number()))),
            ("number", self.issue["number"].clone()),
            ("title", self.issue["title"].clone()),
            ("body", self.issue["body"].clone()),
            ("url", json!("https://github.com/o/r/issues/7")),
            (
                "state",
                json!(self.issue["state"].as_str().unwrap().to_uppercase()),
            ),
        ] {
            let fields = asked.split('}').next().unwrap_or_default();
            if fields.split(['{', ',']).any(|word| word == field)
                || asked.starts_with(&format!("{field},"))
            {
                issue[field] = value;
            }
        }
        if asked.contains("labels(") {
            let nodes: Vec<Value> = self
                .label_names()
                .iter()
                .map(|name| json!({"id": format!("L_{name}"), "name": name, "description": "", "color": ""}))
                .collect();
            issue["labels"] = json!({"totalCount": nodes.len(), "nodes": nodes});
        }
        json!({"data": {"repository": {"hasIssuesEnabled": true, "issue": issue}}})
    }
}

impl Server {
    /// Listens in a folder, which becomes the configuration of `gh`.
    pub(super) fn start(folder: &Path, world: World) -> Self {
        let socket = folder.join("github.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut config = fs::File::create(folder.join("config.yml")).unwrap();
        writeln!(config, "http_unix_socket: {}", socket.display()).unwrap();
        let world = Arc::new(Mutex::new(world));
        let (shared, path) = (Arc::clone(&world), folder.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (world, folder) = (Arc::clone(&shared), path.clone());
                thread::spawn(move || serve(stream, &world, &folder));
            }
        });
        Self {
            world,
            folder: folder.to_owned(),
        }
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.world.lock().unwrap().calls.clone()
    }

    /// What `gh` needs to find this server.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("GH_CONFIG_DIR", self.folder.to_str().unwrap().to_owned()),
            ("GH_TOKEN", "token".to_owned()),
        ]
    }
}

/// The next call: method, path, body; none if the connection ends.
fn request(reader: &mut BufReader<UnixStream>) -> Option<(String, String, Value)> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|bytes| *bytes > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader
            .read_line(&mut header)
            .ok()
            .filter(|bytes| *bytes > 0)?;
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some((method, path, body))
}

fn serve(stream: UnixStream, shared: &Mutex<World>, folder: &Path) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((method, path, body)) = request(&mut reader) {
        let mut world = shared.lock().unwrap();
        let index = world.record(World::name(&method, &path, &body));
        let fault = world
            .fault
            .filter(|(at, _)| *at == index)
            .map(|(_, fault)| fault);
        if let Some(Fault::Late(seconds)) = fault {
            drop(world);
            thread::sleep(Duration::from_secs(seconds));
            world = shared.lock().unwrap();
        }
        let (status, headers, answer) = match fault {
            Some(Fault::CutBefore) => return,
            Some(Fault::Status(status)) => (
                status,
                String::new(),
                json!({"message": "something is wrong"}),
            ),
            _ => world.answer(&method, &path, &body),
        };
        let scrub = world.scrub;
        drop(world);
        match fault {
            Some(Fault::CutAfter) => return,
            Some(Fault::Killed) => kill(folder),
            Some(Fault::CtrlC(times)) => {
                for _ in 0..times {
                    // The first may have ended it.
                    let _ = command("kill")
                        .arg("-INT")
                        .arg(scrub.unwrap().to_string())
                        .output();
                    // Two at once would be one.
                    thread::sleep(Duration::from_millis(300));
                }
            }
            Some(Fault::Slow(seconds)) => thread::sleep(Duration::from_secs(seconds)),
            _ => {}
        }
        let text = if answer.is_null() {
            String::new()
        } else {
            answer.to_string()
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {}\r\n\r\n",
            text.len()
        );
        if writer
            .write_all(format!("{head}{text}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

/// Kills the `gh` that uses this configuration.
fn kill(folder: &Path) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&environment)
            .contains(&format!("GH_CONFIG_DIR={}", folder.display()));
        if name.trim() == "gh" && is_ours {
            let _ = command("kill").arg("-9").arg(entry.file_name()).status();
        }
    }
}
