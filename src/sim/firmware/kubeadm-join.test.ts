import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Transport } from "@slipway/kube";
import { kubeadmJoin } from "./kubeadm-join.ts";

/** What kubeadm says of a file before it asks anybody. */
async function refusal(file: string): Promise<string> {
  const ports = {
    clock: new VirtualClock(),
    random: seededRandom(1),
    log: quietLog,
    signal: new AbortController().signal,
  };
  const open = () => assert.fail("it asked an API server");
  const end = await kubeadmJoin(file, { hostname: "m", addresses: [] }, { ...ports, open });
  return end.is === "refused" ? end.message : end.is;
}
const file = (version: string, rest = ""): string =>
  `apiVersion: kubeadm.k8s.io/${version}\nkind: JoinConfiguration\n${rest}`;
const DISCOVERY = "kubeadm: discovery needs bootstrapToken with token and apiServerEndpoint";
const bootstrap = (token: string, endpoint: string): string =>
  `discovery: {bootstrapToken: {token: "${token}", apiServerEndpoint: "${endpoint}"}}\n`;

test("a file that is no JoinConfiguration, or of another version, is refused", async () => {
  assert.equal(await refusal("kind: InitConfiguration"), "kubeadm: the file has no JoinConfiguration");
  assert.equal(await refusal("{}"), "kubeadm: the file has no JoinConfiguration");
  for (const version of ["v1alpha3", "v1beta5", "v1beta33"])
    assert.equal(await refusal(file(version)), `kubeadm: unknown apiVersion kubeadm.k8s.io/${version}`);
});

test("versions of 2019 are read, too: plunder's manifests have them", async () => {
  for (const version of ["v1beta1", "v1beta2"]) assert.equal(await refusal(file(version)), DISCOVERY);
});

test("the kubelet's arguments are a map up to v1beta3 and a list from v1beta4 on", async () => {
  const args = (text: string): string => `nodeRegistration: {kubeletExtraArgs: ${text}}\n`;
  assert.equal(
    await refusal(file("v1beta3", args("[{name: a, value: b}]"))),
    "kubeadm: kubeletExtraArgs have not the form of kubeadm.k8s.io/v1beta3",
  );
  assert.equal(
    await refusal(file("v1beta4", args("{a: b}"))),
    "kubeadm: kubeletExtraArgs have not the form of kubeadm.k8s.io/v1beta4",
  );
  for (const [version, text] of [
    ["v1beta3", "{a: b}"],
    ["v1beta4", "[{name: a, value: b}]"],
  ] as const)
    assert.equal(await refusal(file(version, args(text))), DISCOVERY);
});

test("discovery needs a token of kubeadm's form and an endpoint", async () => {
  const token = "abcdef.0123456789abcdef";
  assert.equal(await refusal(file("v1beta4")), DISCOVERY);
  assert.equal(await refusal(file("v1beta4", bootstrap(token, ""))), DISCOVERY);
  for (const wrong of ["", "abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcde"])
    assert.equal(await refusal(file("v1beta4", bootstrap(wrong, "10.0.0.1:6443"))), DISCOVERY, wrong);
});

test("a machine whose power goes while it looks for its cluster leaves no connection open", async () => {
  const power = new AbortController();
  let closed = 0;
  const transport = {
    request: async () => {
      power.abort(new Error("the power went"));
      throw new Fault("Unavailable", "api", "no answer");
    },
    close: async () => void closed++,
  } as unknown as Transport;
  const clock = new VirtualClock();
  const ports = { clock, random: seededRandom(1), log: quietLog, signal: power.signal, open: () => transport };
  const text = file("v1beta4", bootstrap("abcdef.0123456789abcdef", "10.0.0.1:6443"));
  const joining = kubeadmJoin(text, { hostname: "m", addresses: [] }, ports);
  joining.catch(() => {});
  await clock.run(10 * 60_000);
  await assert.rejects(joining);
  assert.deepEqual([closed, clock.pending], [1, 0]);
});
