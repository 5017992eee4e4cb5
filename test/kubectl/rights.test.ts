import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dump, load } from "js-yaml";
import { Session } from "./session.ts";

let at: Session;
let minor: number;
before(async () => {
  at = await Session.start();
  minor = await at.minor();
});
after(async () => {
  await at.close();
});

/** A kubeconfig for the same server with a token in place of the administrator's certificate; its path. */
async function withToken(token: string): Promise<string> {
  const config = load(await readFile(join(at.dir, "kubeconfig"), "utf8")) as { users: { user: object }[] };
  for (const entry of config.users) entry.user = { token };
  const file = join(at.dir, "kubeconfig-token");
  await writeFile(file, dump(config), { mode: 0o600 });
  return file;
}

test("auth can-i shows what everybody may do, and what the administrator may", async () => {
  assert.equal((await at.kubectl("auth can-i get pods --as bob")).out.trim(), "no");
  assert.equal((await at.ok("auth can-i * *")).trim(), "yes");
  const list = await at.ok("auth can-i --list --as bob");
  assert.match(list, /selfsubjectaccessreviews\.authorization\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]/);
  assert.doesNotMatch(list, /pods/);
});

test("a ServiceAccount's token lets in whom a binding has let in", async (t) => {
  if (minor < 24) return t.skip(`kubectl 1.${minor} has no create token command`);
  await at.ok("create serviceaccount app");
  const token = (await at.ok("create token app --duration 10m")).trim();
  const file = await withToken(token);
  if (minor >= 27) assert.match(await at.ok(`auth whoami --kubeconfig ${file}`), /system:serviceaccount:default:app/);
  const refused = await at.kubectl(`get configmaps --kubeconfig ${file}`);
  assert.match(refused.err, /"system:serviceaccount:default:app" cannot list resource "configmaps"/);
  await at.ok("create rolebinding app-views --clusterrole view --serviceaccount default:app");
  assert.match(await at.ok(`get configmaps --kubeconfig ${file}`), /kube-root-ca\.crt/);
  assert.match((await at.kubectl(`get secrets --kubeconfig ${file}`)).err, /cannot list resource "secrets"/);
});

test("auth reconcile makes roles and bindings, and adds what is missing", async () => {
  const manifest = (verbs: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pod-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [${verbs}]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: pod-readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pod-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carol}]
`;
  await at.ok("auth reconcile -f -", manifest("get"));
  assert.equal((await at.kubectl("auth can-i list pods --as carol")).out.trim(), "no");
  await at.ok("auth reconcile -f -", manifest("list"));
  for (const verb of ["get", "list"]) assert.equal((await at.ok(`auth can-i ${verb} pods --as carol`)).trim(), "yes");
});

test("the default roles are there, and describe shows what they permit", async () => {
  assert.match(
    await at.ok("get clusterrolebinding cluster-admin -o wide"),
    /ClusterRole\/cluster-admin.*system:masters/,
  );
  const shown = await at.ok("describe clusterrole view");
  assert.match(shown, /configmaps\s+\[\]\s+\[\]\s+\[get list watch\]/);
  assert.doesNotMatch(shown, /secrets/);
});
