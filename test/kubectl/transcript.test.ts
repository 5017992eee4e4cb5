import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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

const POOL = "harvester-pxe-worker";

test("a pool is applied, becomes ready, and prints the columns of the addon's README", async () => {
  await at.ok("apply -f examples/harvester/secret.yaml");
  await at.ok("apply -f examples/harvester/instancepool.yaml");
  await at.ok(["wait", `instancepool/${POOL}`, "--for=condition=Ready", "--timeout=60s"]);

  const [heads, row] = (await at.ok("get instancepools")).split("\n");
  assert.match(heads!, /^NAME\s+STATUS\s+READY\s+REQUESTED\s+AGE$/);
  assert.match(row!, /^harvester-pxe-worker\s+ready\s+1\s+1\s+\d+/);
  const instances = await at.ok("get instances");
  assert.match(instances, /^NAME\s+STATUS\s+INSTANCEID\s+PUBLICIP\s+PRIVATEIP/);
  assert.match(instances, /harvester-pxe-worker-[a-z]{8}\s+managed\s+[0-9a-f-]{36}\s+[\d.]+\s+[\d.]+/);
});

test("get prints every form, by label, by field, in pages and as it changes", async () => {
  assert.match(await at.ok(["get", "instances", "-o", "jsonpath={.items[*].status.status}"]), /^managed$/);
  assert.equal(JSON.parse(await at.ok("get instancepool harvester-pxe-worker -o json")).spec.count, 1);
  assert.match(await at.ok("get instancepool harvester-pxe-worker -o yaml"), /\n {2}count: 1\n/);
  assert.match(await at.ok("get instances -o wide"), /WAITING/);
  assert.match(await at.ok("get ipool -o name"), /instancepool.equinix.harvesterhci.io\/harvester-pxe-worker/);
  assert.match(await at.ok(`get instances -l instancePool=${POOL} -o name`), /instance/);
  assert.equal(await at.ok("get instances -l instancePool=none -o name"), "");
  assert.match(await at.ok(`get instancepools --field-selector metadata.name=${POOL} -o name`), /harvester-pxe-worker/);
  assert.match(await at.ok("get configmaps -A --chunk-size=1"), /harvester-system\s+vip/);
  const watch = at.kubectl(`get instancepool ${POOL} -w --request-timeout=3s`);
  await at.ok(`label instancepool ${POOL} seen=yes`);
  assert.match((await watch).out, /harvester-pxe-worker/);
});

test("describe shows spec, status and events; get events lists them", async () => {
  const name = (await at.ok(["get", "instances", "-o", "jsonpath={.items[0].metadata.name}"])).trim();
  assert.match(await at.ok(`describe instance ${name}`), /Ordered/);
  assert.match(await at.ok("get events -A"), /Ordered/);
});

test("kubectl events lists what happened to an object", async (t) => {
  if (minor < 26) return t.skip(`kubectl 1.${minor} has no events command`);
  assert.match(await at.ok(`events -A --for instancepool/${POOL}`), /Ready/);
});

test("apply, client-side and server-side, diff, create, replace and patch work as on a real cluster", async () => {
  assert.match(await at.ok("apply -f examples/harvester/instancepool.yaml"), /unchanged|configured/);
  await at.ok("apply --server-side --force-conflicts -f examples/harvester/instancepool.yaml");
  const diff = await at.kubectl(["diff", "-f", "-"], manifest("dry", 0).replace("dry", POOL));
  assert.equal(diff.code, 1, diff.err);
  assert.match(diff.out, /[-+] {2}count/);
  await at.ok(["create", "-f", "-"], manifest("by-hand", 0));
  assert.match((await at.kubectl(["create", "-f", "-"], manifest("by-hand", 0))).err, /AlreadyExists/);
  await at.ok(["replace", "-f", "-"], manifest("by-hand", 0).replace("metro: SG", "metro: NY"));
  assert.equal(await at.ok(["get", "instancepool", "by-hand", "-o", "jsonpath={.spec.metro}"]), "NY");
  await at.ok(["patch", "instancepool", "by-hand", "--type=merge", "-p", '{"spec":{"metro":"DA"}}']);
  await at.ok([
    "patch",
    "instancepool",
    "by-hand",
    "--type=json",
    "-p",
    '[{"op":"replace","path":"/spec/metro","value":"AM"}]',
  ]);
  assert.equal(await at.ok(["get", "instancepool", "by-hand", "-o", "jsonpath={.spec.metro}"]), "AM");
  await at.ok([
    "patch",
    "configmap",
    "vip",
    "-n",
    "harvester-system",
    "--type=strategic",
    "-p",
    '{"data":{"note":"x"}}',
  ]);
  await at.ok("annotate instancepool by-hand note=x");
  await at.ok("label instancepool by-hand tier=test");
  await at.ok("delete instancepool by-hand");
});

test("client-side apply changes, and takes away what is no longer in the manifest", async () => {
  await at.ok(["apply", "-f", "-"], `${manifest("kept", 0)}  description: old\n`);
  assert.equal(await at.ok(["get", "ipool", "kept", "-o", "jsonpath={.spec.description}"]), "old");
  await at.ok(["apply", "-f", "-"], manifest("kept", 0).replace("metro: SG", "metro: NY"));
  assert.equal(await at.ok(["get", "ipool", "kept", "-o", "jsonpath={.spec.metro}{.spec.description}"]), "NY");
  assert.match(await at.ok("apply view-last-applied instancepool kept"), /metro: NY/);
  await at.ok("delete instancepool kept");
});

test("two appliers that disagree conflict by field, and --force-conflicts settles it", async () => {
  const apply = ["apply", "--server-side", "-f", "-"];
  await at.ok([...apply, "--field-manager=one"], manifest("shared", 0));
  const other = await at.kubectl([...apply, "--field-manager=two"], manifest("shared", 0).replace("SG", "NY"));
  assert.notEqual(other.code, 0);
  assert.match(other.err, /conflict with "one".*\.spec\.metro/s);
  await at.ok([...apply, "--field-manager=two", "--force-conflicts"], manifest("shared", 0).replace("SG", "NY"));
  assert.equal(await at.ok(["get", "ipool", "shared", "-o", "jsonpath={.spec.metro}"]), "NY");
  await at.ok("delete instancepool shared");
});

test("create makes objects from words alone, and a namespace takes them along", async (t) => {
  const team = ["-n", "team"];
  await at.ok("create namespace team");
  for (const words of [
    "secret generic s --from-literal=a=b",
    "configmap c --from-literal=a=b",
    "serviceaccount sa",
    "role r --verb=get,list --resource=pods",
    "rolebinding rb --role=r --serviceaccount=team:sa",
    "job j --image=busybox -- date",
    "deployment d --image=nginx --replicas=2",
    "service clusterip s --tcp=80:8080",
  ]) {
    const [before, after] = words.split(" -- ");
    const command = [...before!.split(" "), ...team, ...(after === undefined ? [] : ["--", after])];
    assert.match(await at.ok(["create", ...command]), /created/, words);
  }
  const got = await at.ok(
    "get secret/s cm/c sa/sa sa/default role/r rolebinding/rb job/j deploy/d svc/s -n team -o name",
  );
  assert.equal(got.trim().split("\n").length, 9);
  await at.ok("create configmap dry --from-literal=a=b --dry-run=server -n team");
  assert.match((await at.kubectl("get configmap dry -n team")).err, /configmaps "dry" not found/);
  await at.ok("scale deployment d --replicas=3 -n team");
  assert.equal(await at.ok("get deployment d -n team -o jsonpath={.spec.replicas}"), "3");
  await at.ok(["patch", "deployment", "d", ...team, "-p", PULL_NEVER]);
  assert.equal(
    await at.ok("get deploy d -n team -o jsonpath={..containers[*].image}/{..imagePullPolicy}"),
    "nginx/Never",
  );
  assert.match(await at.ok("describe deployment d -n team"), /Replicas:\s+3 desired/);
  assert.match(await at.ok("get all -n team"), /deployment.apps\/d/);

  if (minor < 21) t.diagnostic(`skipped: create pdb, since kubectl 1.${minor} writes policy/v1beta1`);
  else {
    await at.ok("create pdb p --selector=app=d --max-unavailable=50% -n team");
    assert.match(await at.ok("get pdb p -n team"), /50%/);
  }
  if (minor < 23) t.diagnostic(`skipped: wait --for=jsonpath, since kubectl 1.${minor} has none`);
  else await at.ok("wait configmap/c --for=jsonpath={.data.a}=b --timeout=5s -n team");
  await at.ok("delete namespace team --timeout=30s");
  assert.match((await at.kubectl("get namespace team")).err, /namespaces "team" not found/);
});

test("edit saves what the editor wrote", async () => {
  await at.ok(["create", "-f", "-"], manifest("edited", 0));
  const edit = await at.kubectl(["--kubeconfig", `${at.dir}/kubeconfig`, "get", "instancepool", "edited"]);
  assert.equal(edit.code, 0);
  process.env.KUBE_EDITOR = "sed -i s/SG/FR/";
  await at.ok("edit instancepool edited");
  delete process.env.KUBE_EDITOR;
  assert.equal(await at.ok(["get", "instancepool", "edited", "-o", "jsonpath={.spec.metro}"]), "FR");
  await at.ok("delete instancepool edited");
});

test("scale buys and releases machines, and wait sees it", async () => {
  await at.ok(`scale instancepool/${POOL} --replicas=3`);
  await at.ok(["wait", `instancepool/${POOL}`, "--for=condition=Ready=False", "--timeout=30s"]);
  await at.ok(["wait", `instancepool/${POOL}`, "--for=condition=Ready", "--timeout=60s"]);
  assert.equal((await at.ok("get instances -o name")).trim().split("\n").length, 3);
  await at.ok(`scale instancepool/${POOL} --replicas=1`);
  await waitUntil(
    async () => (await at.ok("get instances -o name")).trim().split("\n").length === 1,
    "one instance is left",
  );
});

test("what the API serves can be explored: explain, api-resources, version, cluster-info, auth can-i", async () => {
  assert.match(await at.ok("explain instancepool.spec.networkingConfiguration"), /interfaceConfiguration/);
  assert.match(await at.ok("explain instancepool --recursive"), /vlanIDS/);
  assert.match(await at.ok("api-resources"), /instancepools\s+ipool/);
  assert.match(await at.ok("version --output=json"), /serverVersion/);
  assert.match(await at.ok("cluster-info"), /is running at/);
  assert.match(await at.ok("explain deployment.spec.template.spec.containers.ports"), /containerPort/);
  assert.match(await at.ok("auth can-i create instancepools"), /yes/);
  assert.match(await at.ok("auth can-i --list"), /\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/);
  assert.match(await at.ok("get --raw /metrics"), /^apiserver_request_total\{/m);
  assert.match((await at.kubectl("top nodes")).err, /Metrics API not available/);
});

test("auth whoami names the kubeconfig's user", async (t) => {
  if (minor < 27) return t.skip(`kubectl 1.${minor} has no auth whoami`);
  assert.match(await at.ok("auth whoami"), /Groups\s+\[system:masters/);
});

test("a wrong manifest is refused with the path of the field", async () => {
  const wrong = await at.kubectl(["apply", "-f", "-"], manifest("wrong", 0).replace("count: 0", "count: many"));
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.err, /spec\.count/);
  const negative = await at.kubectl(
    ["apply", "--validate=false", "-f", "-"],
    manifest("wrong", 0).replace("count: 0", "count: -1"),
  );
  assert.match(negative.err, /spec\.count.*greater than or equal to 0/);
  const unknown = await at.kubectl(["apply", "-f", "-"], manifest("wrong", 0).replace("metro:", "metropolis:"));
  assert.notEqual(unknown.code, 0);
  // Old clients validate by themselves, new ones let the server do it.
  if (minor < 25) assert.match(unknown.err, /unknown field "metropolis" in .*InstancePool\.spec/);
  else assert.match(unknown.err, /strict decoding error: unknown field "spec\.metropolis"/);
  assert.match(
    (await at.kubectl("get instancepool nobody")).err,
    /instancepools.equinix.harvesterhci.io "nobody" not found/,
  );
});

test("delete cascades in the background, in the foreground, or leaves orphans", async () => {
  await at.ok(["create", "-f", "-"], manifest("leaving", 1));
  await waitUntil(
    async () => (await at.ok("get instances -l instancePool=leaving -o name")) !== "",
    "the pool has an instance",
  );
  await at.ok("delete instancepool leaving --cascade=orphan");
  const left = (await at.ok("get instances -l instancePool=leaving -o name")).trim();
  assert.notEqual(left, "");
  await at.ok(["delete", left]);
  await at.ok(["create", "-f", "-"], manifest("leaving", 1));
  await waitUntil(
    async () => (await at.ok("get instances -l instancePool=leaving -o name")) !== "",
    "the pool has an instance",
  );
  await at.ok("delete instancepool leaving --cascade=foreground");
  assert.equal(await at.ok("get instances -l instancePool=leaving -o name"), "");
});

test("state survives kill -9", async () => {
  const before = await at.ok(["get", "instancepools", "-o", "jsonpath={.items[*].metadata.uid}"]);
  await at.kill("SIGKILL");
  await at.up();
  assert.equal(await at.ok(["get", "instancepools", "-o", "jsonpath={.items[*].metadata.uid}"]), before);
  await at.ok(["wait", `instancepool/${POOL}`, "--for=condition=Ready", "--timeout=60s"]);
});

test("Ctrl-C ends it with exit code 0", async () => {
  assert.equal(await at.kill("SIGINT"), 0);
});

function manifest(name: string, count: number): string {
  return `apiVersion: equinix.harvesterhci.io/v1
kind: InstancePool
metadata:
  name: ${name}
spec:
  count: ${count}
  plan: c3.small.x86
  metro: SG
  billingCycle: hourly
`;
}

/** Asks again until it holds; fails with what was missing. */
async function waitUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

const PULL_NEVER = JSON.stringify({
  spec: { template: { spec: { containers: [{ name: "nginx", imagePullPolicy: "Never" }] } } },
});
