/**
 * What a tenant cluster holds for `kubeadm join`, held against kubeadm itself: each version's own types decode it strictly, its own phases write
 * the same, and kube-apiserver takes it without a warning. `make test-kubeadm VERSIONS="1.27 1.36"` builds the judges that it needs.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { seededRandom } from "@slipway/base";
import { dump, load } from "js-yaml";
import { createBootstrapToken } from "../../src/bootstrap/kubeadm/bootstrap-token.ts";
import type { JoinFacts, Manifest } from "../../src/bootstrap/kubeadm/join-facts.ts";
import { joinObjects } from "../../src/bootstrap/kubeadm/join-objects.ts";
import { FACTS, objectIn, textIn } from "../../src/bootstrap/kubeadm/testing.ts";
import { assetsFolder, BINARIES, findAssets } from "../../src/kubernetes/assets.ts";
import { KUBEADM_VERSIONS, kubeadmJudge } from "./assets/binaries.ts";
import { type Server, startReal } from "./conformance/servers.ts";

interface Verdict {
  faults: string[];
  written: Record<string, unknown>;
}

const assets = assetsFolder(process.env);
const chosen = process.env.VERSIONS?.split(/[ ,]+/);
const TOKEN = createBootstrapToken({ random: seededRandom(1), description: "joins" });
/** With nothing as it is by default. */
const UNUSUAL: JoinFacts = {
  ...FACTS,
  endpoint: { host: "fd00::5", port: 40000 },
  serviceCidrs: ["fd00:10::/112"],
  podCidrs: ["fd00:20::/64"],
  clusterDomain: "tenant.example",
  registry: "mirror.example/k8s",
  keyAlgorithm: "RSA-2048",
  coreDNS: { imageTag: "v9.9.9" },
};
const CONFIGURED = ["kubeadm-config", "kubelet-config", "kube-proxy"];

const missing = async (programs: readonly string[]): Promise<string | false> =>
  findAssets(process.env, programs).then(
    () => false,
    (fault: Error) => `${fault.message}: make kube-assets NAMES="${programs.join(" ")}"`,
  );

for (const [minor, version] of Object.entries(KUBEADM_VERSIONS)) {
  const skip =
    chosen !== undefined && !chosen.includes(minor) ? "not among VERSIONS" : await missing([kubeadmJudge(minor)]);
  describe(`kubeadm ${minor}`, { skip }, () => {
    const ask = <T>(verb: "check" | "write", input: string): T => {
      const { status, stdout, stderr } = spawnSync(join(assets, kubeadmJudge(minor)), [verb], {
        input,
        encoding: "utf8",
      });
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout) as T;
    };
    const check = (objects: readonly Manifest[]): Verdict =>
      ask("check", JSON.stringify(objects.filter(({ kind }) => kind === "ConfigMap")));
    const held = (facts: JoinFacts): Manifest[] => [...joinObjects({ ...facts, version }), TOKEN.secret];

    test("B17 it knows every field of our configurations, and would say so if it did not", () => {
      const { faults, written } = check(held(FACTS));
      assert.deepEqual(faults, []);
      assert.deepEqual(Object.keys(written).sort(), [...CONFIGURED].sort());
      const patch = { op: "add", path: "/noSuchField", value: 1 } as const;
      const kubelet = { ...FACTS.kubelet, configurationJSONPatches: [patch] };
      assert.match(check(held({ ...FACTS, kubelet })).faults.join(), /^kubelet-config: .*noSuchField/);
    });

    for (const [name, facts] of Object.entries({ usual: FACTS, unusual: UNUSUAL }))
      test(`it writes what we write of a tenant with ${name} facts`, () => {
        const ours = held(facts);
        const theirs = ask<Manifest[]>("write", initialised(ours, facts));
        const names = (objects: readonly Manifest[]): string[] => objects.map(nameOf).sort();
        const more = names(ours).filter((name) => !names(theirs).includes(name));
        assert.deepEqual(
          names(theirs).filter((name) => !names(ours).includes(name)),
          [],
        );
        assert.deepEqual(more, [
          ...(Number(minor.split(".")[1]) < 36 ? ["ClusterRoleBinding kubeadm:apiserver-kubelet-client"] : []),
          "ClusterRoleBinding kubeadm:cluster-admins",
        ]);
        for (const their of theirs) {
          const our = objectIn(ours, their.kind, their.metadata.name);
          if (their.kind !== "ConfigMap") assert.deepEqual(bare(our), bare(their), nameOf(their));
        }
        assert.deepEqual(check(ours).written, check(theirs).written);
        assert.equal(textIn(ours, "coredns", "Corefile"), textIn(theirs, "coredns", "Corefile"));
        for (const [name, key] of [
          ["cluster-info", "kubeconfig"],
          ["kube-proxy", "kubeconfig.conf"],
        ] as const)
          assert.deepEqual(bare(load(textIn(ours, name, key))), bare(load(textIn(theirs, name, key))), name);
      });
  });
}

describe("kube-apiserver", { skip: await missing([...BINARIES, "kubectl"]) }, () => {
  let server: Server;
  before(async () => {
    server = await startReal(assets);
  });
  after(() => server?.close());

  for (const version of Object.values(KUBEADM_VERSIONS))
    test(`takes what a tenant of ${version} holds without a warning`, () => {
      const input = JSON.stringify({
        apiVersion: "v1",
        kind: "List",
        items: [...joinObjects({ ...FACTS, version }), TOKEN.secret],
      });
      const flags = [
        "--kubeconfig",
        server.kubeconfigFile,
        "apply",
        "--server-side",
        "--warnings-as-errors",
        "-f",
        "-",
      ];
      const { status, stderr } = spawnSync(join(assets, "kubectl"), flags, { input, encoding: "utf8" });
      assert.deepEqual([status, stderr], [0, ""]);
    });
});

/** What `kubeadm init` is given: our own ClusterConfiguration and our token. */
function initialised(ours: readonly Manifest[], { endpoint }: JoinFacts): string {
  const cluster = textIn(ours, "kubeadm-config", "ClusterConfiguration");
  const { apiVersion } = load(cluster) as { apiVersion: string };
  const init = {
    apiVersion,
    kind: "InitConfiguration",
    bootstrapTokens: [{ token: TOKEN.token, description: "joins", ttl: "0s" }],
    localAPIEndpoint: { advertiseAddress: endpoint.host, bindPort: endpoint.port },
    nodeRegistration: { name: "node", criSocket: "unix:///run/containerd/containerd.sock" },
  };
  return `${dump(init)}---\n${cluster}`;
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
}

/** Without what says nothing: empty values, statuses, and a subject's group, which a server fills in. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const { kind, name } = value as { kind?: string; name?: string };
  const isSubject = (kind === "Group" || kind === "User") && name !== undefined;
  const unsaid = isSubject ? ["apiGroup"] : ["status", "resourceVersion"];
  const members = Object.entries(value).flatMap(([key, member]) => {
    const found = bare(member);
    const isEmpty = found === null || found === "" || (typeof found === "object" && Object.keys(found).length === 0);
    return unsaid.includes(key) || isEmpty ? [] : [[key, found]];
  });
  return Object.fromEntries(members);
}
