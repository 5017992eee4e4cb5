/** Which rights each way of acting as another asks for, in order, and whom it leaves the request to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes } from "../core/attributes.ts";
import type { User } from "../model/request.ts";
import { impersonation } from "./impersonate.ts";
import { noImpersonation, wantedUser } from "./impersonation-headers.ts";

const HELPER: User = { name: "helper", groups: [] };
const asking = (user: User): Attributes =>
  ({
    ...{ user, verb: "get", group: "", version: "v1", plural: "pods", subresource: "", namespace: "n", name: "p" },
    path: "",
  }) as Attributes;
const line = ({ verb, plural, subresource, namespace, name, group }: Attributes): string =>
  `${verb} ${plural}${subresource && `/${subresource}`}${group && `.${group}`} ${namespace && `${namespace}/`}${name}`;

/** Who the request is answered for, and what was asked on the way; rights are those that `may` says. */
async function acted(headers: Record<string, string>, may: (line: string) => boolean, user = HELPER) {
  const asked: string[] = [];
  const authorize = async (attributes: Attributes) => {
    asked.push(line(attributes));
    return { allowed: may(line(attributes)) };
  };
  const act = impersonation(authorize as never);
  const as = await act(asking(user), headers).catch((error: Error) => error.message);
  return { as, asked, act };
}
const all = () => true;
const limited = (line: string) => line.includes("impersonate:") || line.startsWith("impersonate-on:");
const old = (line: string) => line.startsWith("impersonate ");
const AUTH = ".authentication.k8s.io";

test("who asks for nobody acts as himself", async () => {
  assert.deepEqual(await acted({}, () => false).then(({ as, asked }) => [as, asked]), [HELPER, []]);
});

test("a user is taken on in a limited way first, for this verb on this resource alone", async () => {
  const { as, asked } = await acted({ "impersonate-user": "bob" }, all);
  assert.deepEqual(as, { name: "bob", groups: ["system:authenticated"] });
  assert.deepEqual(asked, ["impersonate-on:user-info:get pods n/p", `impersonate:user-info users${AUTH} bob`]);
});

test("where the limited right is missing the old one is asked for, and the next time first", async () => {
  const asked: string[] = [];
  const act = impersonation((async (attributes: Attributes) => {
    asked.push(line(attributes));
    return { allowed: old(line(attributes)) };
  }) as never);
  await act(asking(HELPER), { "impersonate-user": "bob" });
  assert.deepEqual(asked, ["impersonate-on:user-info:get pods n/p", "impersonate users bob"]);
  asked.length = 0;
  await act(asking(HELPER), { "impersonate-user": "eve" });
  assert.deepEqual(asked, ["impersonate users eve"]);
  asked.length = 0;
  await act(asking({ name: "other", groups: [] }), { "impersonate-user": "eve" });
  assert.equal(asked[0], "impersonate-on:user-info:get pods n/p", "each user has a way of his own");
});

test("without any right the first refusal is the answer", async () => {
  const { as, asked } = await acted({ "impersonate-user": "bob" }, () => false);
  assert.match(String(as), /cannot impersonate-on:user-info:get resource "pods"/);
  assert.deepEqual(asked, ["impersonate-on:user-info:get pods n/p", "impersonate users bob"]);
});

test("accounts and Nodes are taken on as what they are, by name alone", async () => {
  const account = { "impersonate-user": "system:serviceaccount:ns:robot" };
  const first = await acted(account, all);
  assert.deepEqual(first.asked, [
    "impersonate-on:serviceaccount:get pods n/p",
    `impersonate:serviceaccount serviceaccounts${AUTH} ns/robot`,
  ]);
  assert.deepEqual(first.as, {
    name: account["impersonate-user"],
    groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
  });
  const node = { "impersonate-user": "system:node:n1" };
  const second = await acted(node, all);
  assert.deepEqual(second.asked, [
    "impersonate-on:arbitrary-node:get pods n/p",
    `impersonate:arbitrary-node nodes${AUTH} n1`,
  ]);
  assert.deepEqual(second.as, { name: "system:node:n1", groups: ["system:nodes", "system:authenticated"] });
  const grouped = await acted({ ...account, "impersonate-group": "dev" }, all);
  assert.deepEqual(grouped.asked, ["impersonate serviceaccounts ns/robot", "impersonate groups dev"]);
  assert.deepEqual((grouped.as as User).groups, ["dev", "system:authenticated"]);
  assert.deepEqual((await acted(node, old)).asked.at(-1), "impersonate users system:node:n1");
  for (const name of ["system:serviceaccount:a:b:c", "system:serviceaccount:A:b", "system:node:A"])
    assert.equal(
      (await acted({ "impersonate-user": name }, all)).asked[0],
      "impersonate-on:user-info:get pods n/p",
      name,
    );
});

test("an account on a Node takes that Node on by a right of its own", async () => {
  const on = (...names: string[]): User => ({
    ...{ name: "system:serviceaccount:ns:agent", groups: [] },
    extra: { "authentication.kubernetes.io/node-name": names },
  });
  const headers = { "impersonate-user": "system:node:n1" };
  const first = async (user: User) => (await acted(headers, all, user)).asked;
  assert.deepEqual(await first(on("n1")), [
    "impersonate-on:associated-node:get pods n/p",
    `impersonate:associated-node nodes${AUTH} *`,
  ]);
  for (const user of [on("n2"), on("n1", "n2"), on(), { ...on("n1"), name: "human" }])
    assert.equal((await first(user))[0], "impersonate-on:arbitrary-node:get pods n/p", JSON.stringify(user));
});

test("each group, uid and value is a right; from four on the right to all of them is asked for first", async () => {
  const headers = { "impersonate-user": "bob", "impersonate-uid": "7", "impersonate-group": "a\nb" };
  const extra = { "impersonate-extra-acme.io%2Fk": "x\ny" };
  const { as, asked } = await acted({ ...headers, ...extra }, all);
  assert.deepEqual(asked.slice(2), [
    `impersonate:user-info uids${AUTH} 7`,
    `impersonate:user-info groups${AUTH} a`,
    `impersonate:user-info groups${AUTH} b`,
    `impersonate:user-info userextras/acme.io/k${AUTH} x`,
    `impersonate:user-info userextras/acme.io/k${AUTH} y`,
  ]);
  assert.deepEqual(as, {
    name: "bob",
    uid: "7",
    groups: ["a", "b", "system:authenticated"],
    extra: { "acme.io/k": ["x", "y"] },
  });
  const many = { "impersonate-user": "bob", "impersonate-group": "a\nb\nc\nd" };
  assert.deepEqual((await acted(many, all)).asked.slice(2), [`impersonate:user-info groups${AUTH} *`]);
  const each = await acted(many, (of) => limited(of) && !of.endsWith("*"));
  assert.equal(each.asked.length, 2 + 5);
  const legacy = await acted({ ...headers, ...extra }, old);
  assert.deepEqual(legacy.asked.slice(1), [
    ...["impersonate users bob", `impersonate uids${AUTH} 7`, "impersonate groups a", "impersonate groups b"],
    ...[`impersonate userextras/acme.io/k${AUTH} x`, `impersonate userextras/acme.io/k${AUTH} y`],
  ]);
});

test("what may not be taken on in a limited way is refused, whatever the rights", async () => {
  const said = async (more: Record<string, string>) =>
    String((await acted({ "impersonate-user": "bob", ...more }, limited)).as);
  assert.match(
    await said({ "impersonate-group": "system:masters" }),
    /impersonating the system:masters group is not allowed/,
  );
  assert.match(await said({ "impersonate-group": "a\n" }), /impersonating the empty string group is not allowed/);
  const extra = (key: string, value = "v") => said({ [`impersonate-extra-${encodeURIComponent(key)}`]: value });
  assert.match(await extra(""), /impersonating the empty string key in extra is not allowed/);
  assert.match(await extra("acme.io/k", ""), /impersonating the empty string value in extra is not allowed/);
  for (const key of ["plain", "/k", "acme.io/"])
    assert.match(await extra(key), /must be a domain-prefixed path \(such as "acme\.io\/foo"\)/, key);
  assert.match(
    await extra("ACME/k"),
    /invalid key in extra is not allowed: extra\.key: Invalid value: "ACME": a lowercase/,
  );
  assert.match(await extra("acme.io/a b"), /Invalid value: "a b": Invalid path \(regex used for validation is /);
  assert.match(await extra("ACME/a b"), /not allowed: \[extra\.key: .*, extra\.key: .*\]/);
});

test("strangers stay strangers, and everybody else is let in once", async () => {
  const groups = async (headers: Record<string, string>) => ((await acted(headers, old)).as as User).groups;
  assert.deepEqual(await groups({ "impersonate-user": "system:anonymous" }), ["system:unauthenticated"]);
  assert.deepEqual(await groups({ "impersonate-user": "bob", "impersonate-group": "system:unauthenticated" }), [
    "system:unauthenticated",
  ]);
  assert.deepEqual(await groups({ "impersonate-user": "bob", "impersonate-group": "system:authenticated" }), [
    "system:authenticated",
  ]);
});

test("headers without a user are refused with what they ask for, and a server may let nobody act as another", async () => {
  const said = (headers: Record<string, string>) => {
    assert.throws(() => wantedUser(headers), /without impersonating a user name$/);
    try {
      wantedUser(headers);
    } catch (error) {
      return (error as Error).message.replace(/^.*?requested /, "").replace(/ without.*/, "");
    }
    return "";
  };
  const user = (uid: string, groups: string, extra: string) =>
    `&user.DefaultInfo{Name:"", UID:${uid}, Groups:${groups}, Extra:${extra}}`;
  const [noGroups, noExtra] = ["[]string(nil)", "map[string][]string(nil)"];
  assert.equal(said({ "impersonate-uid": "7" }), user('"7"', noGroups, noExtra));
  assert.equal(said({ "impersonate-group": "a\nb" }), user('""', '[]string{"a", "b"}', noExtra));
  assert.equal(said({ "impersonate-extra-k": "v" }), user('""', noGroups, 'map[string][]string{"k":[]string{"v"}}'));
  assert.deepEqual(wantedUser({ "impersonate-user": "b", "impersonate-extra-%zz": "v" })?.extra, { "%zz": ["v"] });
  assert.equal(await noImpersonation(asking(HELPER), {}), HELPER);
  await assert.rejects(noImpersonation(asking(HELPER), { "impersonate-user": "b" }), /lets nobody act as another user/);
});
