import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "../testing.ts";
import { patched, type Review, webhookFunctions } from "../webhook/testing.ts";

const BASE = "/apis/admissionregistration.k8s.io/v1";
const MAPS = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
const map = (name: string, more = {}) => ({ metadata: { name, ...more } });
const allow = () => ({ allowed: true });

const hook = (name: string, more = {}) => ({
  name: `${name}.example.com`,
  clientConfig: { url: `https://hooks/${name}` },
  rules: [MAPS],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...more,
});

async function configure(
  w: World,
  kind: "Mutating" | "Validating",
  name: string,
  ...webhooks: object[]
): Promise<void> {
  await w.ask("POST", `${BASE}/${kind.toLowerCase()}webhookconfigurations`, { metadata: { name }, webhooks });
}

/** A world whose webhooks are these functions; closed at the end. */
async function withHooks(
  functions: Parameters<typeof webhookFunctions>[0],
  act: (w: World, http: ReturnType<typeof webhookFunctions>) => Promise<void>,
): Promise<void> {
  const webhooks = webhookFunctions(functions);
  const w = await world({ webhooks });
  try {
    await act(w, webhooks);
  } finally {
    await w.close();
  }
}

test("mutating webhooks are asked in the order of their configurations' names, each seeing what the one before did; then validating ones", async () => {
  const seen: string[] = [];
  const appends = (name: string) => (request: Review) => {
    seen.push(`${name} ${Object.keys(request.object.data ?? {}).join("")}`);
    return request.object.data === undefined
      ? patched({ op: "add", path: "/data", value: { [name]: "" } })
      : patched({ op: "add", path: `/data/${name}`, value: "" });
  };
  const judge = (request: Review) => {
    seen.push(`judge ${Object.keys(request.object.data).join("")}`);
    return { allowed: true };
  };
  await withHooks({ a: appends("a"), b: appends("b"), c: appends("c"), judge }, async (w) => {
    await configure(w, "Mutating", "two", hook("c"));
    await configure(w, "Mutating", "one", hook("a"), hook("b"));
    await configure(w, "Validating", "all", hook("judge"));
    const made = await w.ask("POST", CONFIG_MAPS, map("x"));
    assert.deepEqual(seen, ["a ", "b a", "c ab", "judge abc"]);
    assert.deepEqual(made.data, { a: "", b: "", c: "" });
  });
});

test("what a webhook adds belongs to nobody", async () => {
  await withHooks({ add: () => patched({ op: "add", path: "/data", value: { by: "webhook" } }) }, async (w) => {
    await configure(w, "Mutating", "m", hook("add"));
    const made = await w.ask("POST", CONFIG_MAPS, map("x", { labels: { a: "b" } }));
    assert.match(JSON.stringify(made.metadata.managedFields), /f:labels/);
    assert.doesNotMatch(JSON.stringify(made.metadata.managedFields), /f:data/);
  });
});

test("IfNeeded: a webhook is asked once more when a later one changed the object, others are not", async () => {
  const asked: string[] = [];
  const note = (name: string, answer: () => Record<string, unknown>) => () => {
    asked.push(name);
    return answer();
  };
  const change = note("change", () => patched({ op: "add", path: "/data", value: { a: "1" } }));
  await withHooks({ again: note("again", allow), once: note("once", allow), change }, async (w) => {
    await configure(
      w,
      "Mutating",
      "m",
      hook("again", { reinvocationPolicy: "IfNeeded" }),
      hook("once"),
      hook("change"),
    );
    await w.ask("POST", CONFIG_MAPS, map("x"));
    assert.deepEqual(asked, ["again", "once", "change", "again"]);
  });
});

test("a refusal names who refused and why, with the webhook's own code, and its warnings", async () => {
  const status = { code: 418, reason: "Teapot", message: "no tea" };
  await withHooks({ no: () => ({ allowed: false, status, warnings: ["mind"] }) }, async (w) => {
    await configure(w, "Validating", "v", hook("no"));
    const answer = await w.send({ method: "POST", path: CONFIG_MAPS, body: map("x") });
    assert.equal(answer.status, 418);
    assert.equal((answer.body as Body).message, 'admission webhook "no.example.com" denied the request: no tea');
    assert.equal(answer.headers?.warning, '299 - "mind"');
    assert.equal((await w.refused("GET", `${CONFIG_MAPS}/x`)).code, 404);
  });
});

test("a webhook that never answers fails the write after its timeout, or is passed over, as its policy says", async () => {
  await withHooks({ hang: () => new Promise<never>(() => {}) }, async (w) => {
    await configure(w, "Validating", "v", hook("hang", { timeoutSeconds: 3 }));
    const refused = w.refused("POST", CONFIG_MAPS, map("x"));
    await w.clock.run(3_000);
    const why = 'failed to call webhook: Post "https://hooks/hang?timeout=3s": context deadline exceeded';
    assert.equal((await refused).message, `Internal error occurred: failed calling webhook "hang.example.com": ${why}`);

    await w.ask("DELETE", `${BASE}/validatingwebhookconfigurations/v`);
    await configure(w, "Validating", "v", hook("hang", { timeoutSeconds: 3, failurePolicy: "Ignore" }));
    const made = w.ask("POST", CONFIG_MAPS, map("x"));
    await w.clock.run(3_000);
    assert.equal((await made).metadata.name, "x");
  });
});

test("a dry run is passed on to a webhook that has no side effects on dry runs", async () => {
  const shown: boolean[] = [];
  const tell = (request: Review) => {
    shown.push(request.dryRun);
    return { allowed: true };
  };
  await withHooks({ tell }, async (w) => {
    await configure(w, "Validating", "v", hook("tell", { sideEffects: "NoneOnDryRun" }));
    await w.ask("POST", CONFIG_MAPS, map("x"), { query: { dryRun: "All" } });
    assert.deepEqual(shown, [true]);
  });
});

test("selectors choose by the object's labels, old ones included, and by its namespace's", async () => {
  const asked: string[] = [];
  const note = (request: Review) => {
    asked.push(`${request.operation} ${request.namespace}/${request.name}`);
    return { allowed: true };
  };
  await withHooks({ note }, async (w) => {
    await w.ask("POST", "/api/v1/namespaces", map("dev", { labels: { stage: "dev" } }));
    const namespaceSelector = { matchExpressions: [{ key: "stage", operator: "In", values: ["dev"] }] };
    await configure(
      w,
      "Validating",
      "v",
      hook("note", { namespaceSelector, objectSelector: { matchLabels: { a: "b" } } }),
    );
    const there = "/api/v1/namespaces/dev/configmaps";
    await w.ask("POST", CONFIG_MAPS, map("elsewhere", { labels: { a: "b" } }));
    await w.ask("POST", there, map("unlabelled"));
    await w.ask("POST", there, map("x", { labels: { a: "b" } }));
    const merge = { contentType: "application/merge-patch+json" };
    await w.ask("PATCH", `${there}/x`, { metadata: { labels: null } }, merge);
    await w.ask("PATCH", `${there}/x`, { metadata: { labels: { c: "d" } } }, merge);
    assert.deepEqual(asked, ["CREATE dev/x", "UPDATE dev/x"]);
  });
});

test("a selector of namespaces says nothing of objects outside of them, but for Namespaces, which it judges by their own labels", async () => {
  const asked: string[] = [];
  const note = (request: Review) => {
    asked.push(`${request.operation} ${request.name}`);
    return { allowed: true };
  };
  await withHooks({ note }, async (w) => {
    const namespaceSelector = { matchLabels: { stage: "dev" } };
    const all = { ...MAPS, operations: ["CREATE", "DELETE"], apiGroups: ["*"], apiVersions: ["*"] };
    const rule = { ...all, resources: ["namespaces", "clusterroles"] };
    await configure(w, "Validating", "v", hook("note", { namespaceSelector, rules: [rule] }));
    await w.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", map("role", { labels: { stage: "prod" } }));
    await w.ask("POST", "/api/v1/namespaces", map("dev", { labels: { stage: "dev" } }));
    await w.ask("POST", "/api/v1/namespaces", map("prod", { labels: { stage: "prod" } }));
    await w.ask("POST", "/api/v1/namespaces", map("plain"));
    assert.deepEqual(asked, ["CREATE role", "CREATE dev"]);
  });
});

const rules: [rule: object, matches: boolean][] = [
  [{ operations: ["CREATE"] }, true],
  [{ operations: ["UPDATE", "DELETE"] }, false],
  [{ apiGroups: ["*"] }, true],
  [{ apiGroups: ["apps"] }, false],
  [{ apiVersions: ["v2"] }, false],
  [{ resources: ["*"] }, true],
  [{ resources: ["*/*"] }, true],
  [{ resources: ["configmaps/*"] }, true],
  [{ resources: ["configmaps/status"] }, false],
  [{ resources: ["*/status"] }, false],
  [{ scope: "Namespaced" }, true],
  [{ scope: "Cluster" }, false],
];
for (const [rule, matches] of rules)
  test(`a rule with ${JSON.stringify(rule)} ${matches ? "matches" : "does not match"} the creation of a ConfigMap`, async () => {
    await withHooks({ note: allow }, async (w, http) => {
      await configure(w, "Validating", "v", hook("note", { rules: [{ ...MAPS, ...rule }] }));
      await w.ask("POST", CONFIG_MAPS, map("x"));
      assert.equal(http.posts.length, matches ? 1 : 0);
    });
  });

test("a rule's scope chooses between objects of the cluster, namespaces among them, and those in namespaces", async () => {
  const asked: Record<string, string[]> = { Cluster: [], Namespaced: [], "*": [] };
  const note =
    (scope: string) =>
    ({ kind }: Review) => {
      asked[scope]!.push(kind.kind);
      return { allowed: true };
    };
  const scopes = { cluster: "Cluster", namespaced: "Namespaced", any: "*" };
  const functions = Object.fromEntries(Object.entries(scopes).map(([name, scope]) => [name, note(scope)]));
  await withHooks(functions, async (w) => {
    const all = { operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };
    const hooks = Object.entries(scopes).map(([name, scope]) => hook(name, { rules: [{ ...all, scope }] }));
    await configure(w, "Validating", "v", ...hooks);
    await w.ask("POST", "/api/v1/namespaces", { metadata: { name: "new" } });
    await w.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "r" } });
    await w.ask("POST", CONFIG_MAPS, map("m"));
  });
  const only = (scope: string) => asked[scope]!.filter((kind) => /^(Namespace|ClusterRole|ConfigMap)$/.test(kind));
  const cluster = ["Namespace", "ClusterRole"];
  assert.deepEqual(["Cluster", "Namespaced", "*"].map(only), [cluster, ["ConfigMap"], [...cluster, "ConfigMap"]]);
});

test("deletions are asked about, one by one, with what is deleted", async () => {
  const gone: unknown[] = [];
  const note = ({ operation, name = "", object, oldObject, options }: Review) => {
    if (operation === "DELETE") gone.push([name, object, oldObject.metadata.name, options.gracePeriodSeconds]);
    return { allowed: oldObject?.metadata.name !== "c" };
  };
  await withHooks({ note }, async (w) => {
    for (const name of ["a", "b", "c"]) await w.ask("POST", CONFIG_MAPS, map(name));
    await configure(w, "Validating", "v", hook("note"));
    await w.ask("DELETE", `${CONFIG_MAPS}/a`, { gracePeriodSeconds: 0 });
    await w.refused("DELETE", CONFIG_MAPS);
    assert.deepEqual(gone, [
      ["a", null, "a", 0],
      ["", null, "b", undefined],
      ["", null, "c", undefined],
    ]);
    assert.equal((await w.ask("GET", `${CONFIG_MAPS}/c`)).metadata.name, "c");
  });
});

test("nobody can be locked out: webhooks have no say about webhook configurations", async () => {
  await withHooks({}, async (w) => {
    const all = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };
    await configure(w, "Validating", "v", hook("dead", { rules: [all] }));
    await configure(w, "Mutating", "m", hook("dead", { rules: [all] }));
    assert.match(
      (await w.refused("POST", CONFIG_MAPS, map("x"))).message ?? "",
      /dial tcp hooks:443: connect: connection refused$/,
    );
    for (const kind of ["mutating", "validating"])
      await w.ask("DELETE", `${BASE}/${kind}webhookconfigurations/${kind.charAt(0)}`);
    await w.ask("POST", CONFIG_MAPS, map("x"));
  });
});

test("Equivalent: a webhook for one version of a kind is asked about writes through another in its own, and its patch comes back", async () => {
  const seen: string[] = [];
  const note = ({ kind, requestKind, object }: Review) => {
    seen.push(`${object.apiVersion} ${kind.version} ${requestKind.version}`);
    return patched({ op: "add", path: "/spec/color", value: "red" });
  };
  await withHooks({ note }, async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const rule = { operations: ["CREATE"], apiGroups: ["example.com"], apiVersions: ["v2"], resources: ["widgets"] };
    await configure(w, "Mutating", "m", hook("note", { rules: [rule] }));
    const made = await w.ask("POST", WIDGETS, { ...WIDGET, ...map("a"), spec: {} });
    assert.deepEqual(seen, ["example.com/v2 v2 v1"]);
    assert.deepEqual([made.apiVersion, made.spec], ["example.com/v1", { count: 1, color: "red" }]);
  });
});

test("what a webhook adds beside a custom object's schema is pruned", async () => {
  const add = () =>
    patched({ op: "add", path: "/spec/color", value: "red" }, { op: "add", path: "/spec/odd", value: 1 });
  await withHooks({ add }, async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const rule = { operations: ["CREATE"], apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] };
    await configure(w, "Mutating", "m", hook("add", { rules: [rule] }));
    const { spec } = await w.ask("POST", WIDGETS, { ...WIDGET, ...map("a"), spec: {} });
    assert.deepEqual(spec, { count: 1, color: "red" });
  });
});

test("a Service stands for its ready endpoint, and one without is distinguished from one that is not there", async () => {
  await withHooks({ path: allow }, async (w, http) => {
    const service = { namespace: "default", name: "hooks", path: "/path", port: 8443 };
    await configure(w, "Validating", "v", hook("svc", { clientConfig: { service } }));
    const message = async () =>
      (await w.refused("POST", CONFIG_MAPS, map("x"))).message?.split(": ").slice(4).join(": ");
    assert.equal(await message(), 'service "hooks" not found');
    const ports = [{ name: "https", port: 8443, targetPort: 9443 }];
    await w.ask("POST", "/api/v1/namespaces/default/services", { ...map("hooks"), spec: { ports } });
    assert.equal(await message(), 'no endpoints available for service "hooks"');
    await w.ask("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      ...map("hooks-1", { labels: { "kubernetes.io/service-name": "hooks" } }),
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: false } }, { addresses: ["10.0.0.2"] }],
      ports: [{ name: "https", port: 9443 }],
    });
    await w.ask("POST", CONFIG_MAPS, map("x"));
    const [post] = http.posts;
    assert.deepEqual([post?.url, post?.address], ["https://hooks.default.svc:9443/path?timeout=10s", "10.0.0.2"]);
  });
});

test("others have their turn between the steps of a webhook's change to a large object, and of a long patch", async () => {
  const turnsOf = async (keys: number, operations: number): Promise<number> => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const change = patched(
      ...Array.from({ length: operations }, (_, i) => ({ op: "add", path: `/data/n${i}`, value: "" })),
    );
    const changes = () => {
      setImmediate(count);
      return change;
    };
    const ends = () => {
      isOver = true;
      return allow();
    };
    await withHooks({ changes, ends }, async (w) => {
      await configure(w, "Mutating", "m", hook("changes"), hook("ends"));
      const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, "v"]));
      assert.ok((await w.ask("POST", CONFIG_MAPS, { ...map("x"), data })).data !== undefined);
    });
    return turns;
  };
  assert.equal(await turnsOf(1, 1), 0);
  assert.ok((await turnsOf(3000, 1)) >= 6);
  assert.ok((await turnsOf(1, 3000)) >= 5);
});
