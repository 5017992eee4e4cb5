import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { createAuthority } from "../../pki/authority.ts";
import { JudgedPki } from "../../pki/tenant/judged.ts";
import { LIFECYCLE_LABEL, ROTATE } from "./names.ts";
import { keepPki, type MakePki, type PkiUse } from "./tenant-pki.ts";
import { Turn } from "./testing.ts";

const DAY = 86_400_000;
const reached = {
  hosts: ["192.0.2.10"],
  servers: {
    endpoint: "https://192.0.2.10:6443",
    service: "https://a.default.svc:6443",
    local: "https://127.0.0.1:6443",
  },
};

function rig() {
  const turn = new Turn();
  const judged = new JudgedPki();
  const tenant = tenantWith();
  const keep = (use: Partial<PkiUse> = {}, makePki?: MakePki) =>
    keepPki(turn.context, tenant, { ...reached, ...use }, { judged, ...(makePki !== undefined && { makePki }) });
  const secret = (name: string) => turn.get(Secret, { namespace: "default", name: `a-${name}` });
  return { turn, keep, secret };
}
const created = (turn: Turn): string[] => turn.asked.splice(0).map((each) => each.replace("Secret/default/a-", ""));

test("B19 a tenant's certificates, keys and kubeconfigs are Secrets by Kamaji's names, made once", async () => {
  const { turn, keep, secret } = rig();
  const { held, marks, made } = await keep();
  assert.deepEqual(created(turn).sort(), [
    "create admin-kubeconfig",
    "create api-server-certificate",
    "create api-server-kubelet-client-certificate",
    "create ca",
    "create controller-manager-kubeconfig",
    "create front-proxy-ca-certificate",
    "create front-proxy-client-certificate",
    "create sa-certificate",
    "create scheduler-kubeconfig",
  ]);
  assert.deepEqual(new Set(made.map(({ because }) => because)), new Set(["missing"]));
  const { metadata, data, type } = secret("ca");
  assert.equal(type, "Opaque");
  assert.deepEqual(metadata.labels, {
    "kamaji.clastix.io/project": "kamaji",
    "kamaji.clastix.io/name": "a",
    "kamaji.clastix.io/component": "ca",
    [LIFECYCLE_LABEL]: "x509",
  });
  assert.equal(secret("admin-kubeconfig").metadata.labels![LIFECYCLE_LABEL], "kubeconfig");
  assert.equal(Buffer.from(data!["ca.crt"]!, "base64").toString(), held.ca["ca.crt"]);
  const { checksum, lastUpdate, secretName } = marks.ca;
  assert.deepEqual([secretName, lastUpdate], ["a-ca", "2026-01-01T00:00:00.000Z"]);
  assert.equal(metadata.annotations!["kamaji.clastix.io/checksum"], checksum);
  assert.equal(metadata.ownerReferences?.[0]?.controller, true);
  const again = await keep();
  assert.deepEqual([again.made, turn.asked, again.marks], [[], [], marks]);
});

test("B20 a Secret that is asked to be made anew is, and what others wrote on it stays", async () => {
  const { turn, keep, secret } = rig();
  const { marks } = await keep();
  turn.asked.length = 0;
  Object.assign(secret("scheduler-kubeconfig").metadata.annotations!, { [ROTATE]: "", mine: "x" });
  await turn.clock.run(DAY);
  const { made, marks: after } = await keep();
  assert.deepEqual(
    made.map(({ because }) => because),
    ["requested"],
  );
  assert.deepEqual(created(turn), ["patch scheduler-kubeconfig"]);
  const { annotations } = secret("scheduler-kubeconfig").metadata;
  assert.deepEqual([annotations!.mine, annotations![ROTATE]], ["x", undefined]);
  assert.notEqual(after.scheduler.checksum, marks.scheduler.checksum);
  assert.equal(after.scheduler.lastUpdate, "2026-01-02T00:00:00.000Z");
  assert.equal(after.ca.lastUpdate, marks.ca.lastUpdate);
});

test("a tenant that its DataStore knows by a certificate has one, and with konnectivity one for that", async () => {
  const { turn, keep } = rig();
  const authority = await createAuthority({ commonName: "etcd", clock: { now: () => turn.clock.now() } });
  const { held, marks } = await keep({ storeUser: { user: "ann", authority }, hasKonnectivity: true });
  assert.deepEqual(
    [marks.datastore?.secretName, marks.konnectivityCertificate?.secretName, marks.konnectivityKubeconfig?.secretName],
    ["a-datastore-certificate", "a-konnectivity-certificate", "a-konnectivity-kubeconfig"],
  );
  assert.equal(held.datastore!["ca.crt"], authority.certificatePem);
  const plain = await rig().keep();
  assert.deepEqual([plain.marks.datastore, plain.marks.konnectivityKubeconfig], [undefined, undefined]);
});

test("what would be due again at once is not written", async () => {
  const { turn, keep } = rig();
  const useless: MakePki = async (due) => Object.fromEntries(due.map(({ part }) => [part, {}])) as never;
  await assert.rejects(keep({}, useless), {
    code: "Invalid",
    message: /^certificate \w+ of a: .*, even one that is new$/,
    remedy: "renew the authority that signs it",
  });
  assert.deepEqual(turn.asked, []);
});

test("a Secret without a mark of when it was written counts from its creation", async () => {
  const { keep, secret } = rig();
  await keep();
  delete secret("ca").metadata.annotations;
  secret("ca").metadata.creationTimestamp = "2025-01-01T00:00:00Z";
  assert.equal((await keep()).marks.ca.lastUpdate, "2025-01-01T00:00:00Z");
});
