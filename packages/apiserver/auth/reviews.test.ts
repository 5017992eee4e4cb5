/** Questions about access, and tokens that are asked for: what is answered, and what is no question. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type World, world } from "../testing.ts";

const ACCESS = "/apis/authorization.k8s.io/v1";
const SUBJECT = `${ACCESS}/subjectaccessreviews`;
const LOCAL = `${ACCESS}/namespaces/default/localsubjectaccessreviews`;
const OWN = `${ACCESS}/selfsubjectaccessreviews`;
const RULES = `${ACCESS}/selfsubjectrulesreviews`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

/** A server on which bob may read ConfigMaps of `default`, and the path /made. */
async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  const rules = [
    { verbs: ["get"], apiGroups: [""], resources: ["configmaps", "pods/log"] },
    { verbs: ["get"], nonResourceURLs: ["/made"] },
  ];
  await w.ask("POST", `${RBAC}/clusterroles`, { metadata: { name: "reader" }, rules });
  const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" };
  await w.ask("POST", `${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name: "b" },
    roleRef,
    subjects: [subject],
  });
  await w.ask("POST", `${RBAC}/clusterrolebindings`, {
    ...{ metadata: { name: "paths" }, roleRef: { ...roleRef, name: "paths" } },
    subjects: [{ ...subject, kind: "Group", name: "makers" }],
  });
  await w.ask("POST", `${RBAC}/clusterroles`, { metadata: { name: "paths" }, rules: rules.slice(1) });
  return w;
}

const on = (of: object = {}) => ({ verb: "get", resource: "configmaps", namespace: "default", ...of });
const answered = async (w: World, path: string, spec: object, metadata?: object) =>
  (await w.ask("POST", path, { ...(metadata && { metadata }), spec })).status as { allowed: boolean; reason?: string };
const refused = async (w: World, path: string, spec: object, metadata?: object) =>
  (await w.refused("POST", path, { ...(metadata && { metadata }), spec })).message;

test("whether somebody may do something is answered with why", async (t) => {
  const w = await started(t);
  const may = async (resourceAttributes: object, more: object = { user: "bob" }) =>
    answered(w, SUBJECT, { ...more, resourceAttributes });
  assert.deepEqual(await may(on()), {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/default" of ClusterRole "reader" to User "bob"',
  });
  for (const [attributes, allowed] of [
    [on({ version: "v1", group: "" }), true],
    [on({ verb: "list" }), false],
    [on({ namespace: "kube-system" }), false],
    [on({ group: "apps" }), false],
    [on({ resource: "pods" }), false],
    [on({ resource: "pods", subresource: "log" }), true],
  ] as const)
    assert.equal((await may(attributes)).allowed, allowed, JSON.stringify(attributes));
  assert.equal((await may(on(), { user: "eve" })).allowed, false);
  assert.equal((await may(on(), { groups: ["system:masters"] })).allowed, true);
  const path = (of: object, who: object) => answered(w, SUBJECT, { ...who, nonResourceAttributes: of });
  assert.equal((await path({ verb: "get", path: "/made" }, { groups: ["makers"] })).allowed, true);
  assert.equal((await path({ verb: "get", path: "/made" }, { user: "bob" })).allowed, false);
  assert.equal((await path({ verb: "put", path: "/made" }, { groups: ["makers"] })).allowed, false);
});

test("a question that is none is refused by its field", async (t) => {
  const w = await started(t);
  const resourceAttributes = on();
  const nonResourceAttributes = { verb: "get", path: "/made" };
  const both =
    'spec.nonResourceAttributes: Invalid value: {"Path":"/made","Verb":"get"}: cannot be specified in combination with resourceAttributes';
  const neither =
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
  const nobody = 'spec.user: Invalid value: "": at least one of user or group must be specified';
  const invalid = (...why: string[]) => ` "" is invalid: ${why.length === 1 ? why[0] : `[${why.join(", ")}]`}`;
  const said = async (path: string, spec: object, metadata?: object) =>
    (await refused(w, path, spec, metadata))!.replace(/^[\w.]*/, "");
  assert.equal(await said(SUBJECT, { user: "a", resourceAttributes, nonResourceAttributes }), invalid(both));
  assert.equal(await said(SUBJECT, { user: "a" }), invalid(neither));
  assert.equal(await said(SUBJECT, { resourceAttributes }), invalid(nobody));
  assert.equal(await said(SUBJECT, {}), invalid(neither, nobody));
  assert.equal(await said(OWN, {}), invalid(neither));
  for (const name of ["fieldSelector", "labelSelector"]) {
    const of = (selector: object) => ({ user: "a", resourceAttributes: { ...resourceAttributes, [name]: selector } });
    const at = `spec.resourceAttributes.${name}`;
    assert.equal(
      await said(SUBJECT, of({})),
      invalid(`${at}.requirements: Required value: when ${at} is specified, requirements or rawSelector is required`),
    );
    const requirements = [{ key: "a", operator: "Exists" }];
    assert.equal(
      await said(SUBJECT, of({ rawSelector: "a=b", requirements })),
      invalid(`${at}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`),
    );
    await answered(w, SUBJECT, of({ rawSelector: "a=b" }));
    await answered(w, SUBJECT, of({ requirements }));
  }
  assert.match(
    await said(SUBJECT, { user: "a", resourceAttributes }, { name: "x" }),
    /: metadata: Invalid value: .*: must be empty$/,
  );
  assert.match(await said(OWN, { resourceAttributes }, { labels: { a: "b" } }), /: metadata: .*: must be empty$/);
});

test("a local question is about its own namespace, and about no paths", async (t) => {
  const w = await started(t);
  const user = "bob";
  assert.equal((await answered(w, LOCAL, { user, resourceAttributes: on() })).allowed, true);
  assert.match(
    (await refused(w, LOCAL, { user, resourceAttributes: on({ namespace: "kube-system" }) }))!,
    /spec\.resourceAttributes\.namespace: Invalid value: "kube-system": must match metadata\.namespace$/,
  );
  assert.match(
    (await refused(w, LOCAL, { user, nonResourceAttributes: { verb: "get", path: "/made" } }))!,
    /spec\.nonResourceAttributes: Invalid value: \{"Path":"\/made","Verb":"get"\}: disallowed on this kind of request$/,
  );
  assert.match(
    (await refused(w, LOCAL, { user, resourceAttributes: on() }, { name: "x" }))!,
    /metadata: Invalid value: .*: must be empty except for namespace$/,
  );
});

test("who asks about himself is answered as himself, with all that he may do in a namespace", async (t) => {
  const w = await started(t);
  const bob = w.server.transport({ name: "bob", groups: ["makers"], uid: "7", extra: { "a.example/k": ["v"] } });
  const ask = async (path: string, spec?: object) => {
    const { body, status } = await bob.request({ method: "POST", path, body: { ...(spec && { spec }) } });
    return { status, body: body as { status: Record<string, unknown>; spec: object; message?: string } };
  };
  const own = await ask("/apis/authentication.k8s.io/v1/selfsubjectreviews");
  const { userInfo } = own.body.status as { userInfo: { groups: string[] } };
  assert.deepEqual(userInfo, {
    ...{ username: "bob", uid: "7", extra: { "a.example/k": ["v"] } },
    groups: userInfo.groups,
  });
  assert.ok(userInfo.groups.includes("makers"));
  assert.equal((await ask(OWN, { resourceAttributes: on() })).body.status.allowed, true);
  assert.equal((await ask(OWN, { resourceAttributes: on({ verb: "delete" }) })).body.status.allowed, false);
  const rules = (await ask(RULES, { namespace: "default" })).body;
  const { resourceRules, nonResourceRules, incomplete } = rules.status as {
    resourceRules: { resources: string[] }[];
    nonResourceRules: object[];
    incomplete: boolean;
  };
  assert.deepEqual([rules.spec, incomplete], [{}, false]);
  assert.deepEqual(
    resourceRules.find(({ resources }) => resources.includes("configmaps")),
    {
      ...{ verbs: ["get"], apiGroups: [""], resources: ["configmaps", "pods/log"] },
    },
  );
  assert.ok(nonResourceRules.some((rule) => JSON.stringify(rule) === '{"verbs":["get"],"nonResourceURLs":["/made"]}'));
  const none = await ask(RULES, {});
  assert.deepEqual([none.status, none.body.message], [400, "no namespace on request"]);
});

test("whose token it is, is answered for the audiences that are asked about", async (t) => {
  const w = await started(t);
  await w.ask("POST", ACCOUNTS, { metadata: { name: "robot" } });
  const { token } = (await w.ask("POST", `${ACCOUNTS}/robot/token`, { spec: { audiences: ["here"] } })).status as {
    token: string;
  };
  const review = async (spec: object) =>
    (await w.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec })).status as Record<string, unknown>;
  const good = await review({ token, audiences: ["here", "there"] });
  assert.deepEqual([good.authenticated, good.audiences], [true, ["here"]]);
  const { username, groups } = good.user as { username: string; groups: string[] };
  assert.equal(username, "system:serviceaccount:default:robot");
  assert.ok(groups.includes("system:serviceaccounts:default"));
  const other = await review({ token, audiences: ["there"] });
  assert.equal(other.authenticated, undefined);
  assert.deepEqual([other.user, typeof other.error], [{}, "string"]);
  assert.equal(
    (await w.refused("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: {} })).message,
    "token is required for TokenReview in authentication",
  );
});

test("a token is asked for by the account's name and uid, for ten minutes at least, and bound to what is there", async (t) => {
  const w = await started(t);
  const { uid } = (await w.ask("POST", ACCOUNTS, { metadata: { name: "robot" } })).metadata;
  const path = `${ACCOUNTS}/robot/token`;
  const why = async (body: object) => {
    const { code, message } = await w.refused("POST", path, body);
    return [code, message];
  };
  const field = (name: string, at: string) => [422, `TokenRequest.authentication.k8s.io "${name}" is invalid: ${at}`];
  assert.deepEqual(await why({ metadata: { name: "other" } }), [
    ...field("robot", 'metadata.name: Invalid value: "other": must match the service account name if specified'),
  ]);
  assert.deepEqual((await why({ metadata: { uid: "other" } }))[0], 409);
  const seconds = (expirationSeconds: number) => why({ spec: { expirationSeconds } });
  assert.deepEqual(await seconds(599), [
    ...field("", "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"),
  ]);
  assert.deepEqual(await seconds(2 ** 32 + 1), [
    ...field(
      "",
      "spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
    ),
  ]);
  for (const expirationSeconds of [600, 2 ** 32]) await w.ask("POST", path, { spec: { expirationSeconds } });
  const asked = await w.ask("POST", path, { metadata: { name: "robot", uid }, spec: { expirationSeconds: 700 } });
  const { expirationTimestamp } = asked.status as { expirationTimestamp: string };
  assert.equal(Date.parse(expirationTimestamp) - w.clock.now(), 700_000);
  assert.equal(asked.metadata.uid, uid);

  const pod = {
    metadata: { name: "p" },
    spec: { serviceAccountName: "robot", containers: [{ name: "c", image: "a" }] },
  };
  const { uid: podUid } = (await w.ask("POST", "/api/v1/namespaces/default/pods", pod)).metadata;
  await w.ask("POST", ACCOUNTS, { metadata: { name: "other" } });
  const bound = (boundObjectRef: object, account = "robot") =>
    w.send({ method: "POST", path: `${ACCOUNTS}/${account}/token`, body: { spec: { boundObjectRef } } });
  const reference = { kind: "Pod", apiVersion: "v1", name: "p" };
  assert.equal((await bound({ ...reference, uid: podUid })).status, 201);
  assert.equal((await bound({ ...reference, uid: "other" })).status, 409);
  assert.equal((await bound({ ...reference, name: "q" })).status, 404);
  const said = async (of: object, account?: string) => ((await bound(of, account)).body as { message: string }).message;
  assert.equal(
    await said(reference, "other"),
    'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
  );
  assert.equal(
    await said({ kind: "ConfigMap", apiVersion: "v1", name: "x" }),
    "cannot bind token to object of type /v1, Kind=ConfigMap",
  );
  assert.equal(
    await said({ kind: "Pod", apiVersion: "a.example/v1", name: "p" }),
    "cannot bind token to object of type a.example/v1, Kind=Pod",
  );
  await w.ask("POST", "/api/v1/nodes", { metadata: { name: "n" } });
  assert.equal((await bound({ kind: "Node", apiVersion: "v1", name: "n" })).status, 201);
  await w.ask("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
  assert.equal((await bound({ kind: "Secret", apiVersion: "v1", name: "s" })).status, 201);
});

test("whoever checks tokens by himself finds the issuer and its keys", async (t) => {
  const w = await started(t);
  const get = async (path: string, accept?: string) => w.send({ method: "GET", path, ...(accept && { accept }) });
  const { status, body, headers } = await get("/.well-known/openid-configuration");
  assert.equal(status, 200);
  assert.equal(headers?.["cache-control"], "public, max-age=3600");
  const { issuer, jwks_uri, ...rest } = body as Record<string, unknown>;
  assert.match(String(issuer), /^https:\/\//);
  assert.match(String(jwks_uri), /^https:\/\/.*\/openid\/v1\/jwks$/);
  const { keys } = (await get("/openid/v1/jwks")).body as { keys: { alg: string; use: string }[] };
  assert.deepEqual(rest, {
    ...{ response_types_supported: ["id_token"], subject_types_supported: ["public"] },
    id_token_signing_alg_values_supported: [keys[0]!.alg],
  });
  assert.equal(keys[0]!.use, "sig");
  for (const accept of ["application/jwk-set+json", "application/*", "*/*", "text/html, */*;q=0.1"])
    assert.equal((await get("/openid/v1/jwks", accept)).status, 200, accept);
  assert.equal((await get("/openid/v1/jwks", "application/json")).status, 406);
});
