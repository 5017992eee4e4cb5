import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { arbitraryOf } from "../cluster-api/arbitrary.testing.ts";
import { converter } from "../conversion.ts";
import { KUBEADM_KINDS } from "./kinds.ts";
import { GROUP, type KubeadmConfig } from "./kubeadm-config.ts";

const [CONFIGS] = KUBEADM_KINDS as [(typeof KUBEADM_KINDS)[number]];
const convert = converter(CONFIGS);
const config = (version: string, body: object): KubeObject =>
  ({ apiVersion: `${GROUP}/${version}`, kind: "KubeadmConfig", metadata: { name: "a" }, ...body }) as KubeObject;

for (const [from, by] of [CONFIGS, CONFIGS.toReversed()] as const)
  test(`KubeadmConfig: through ${by!.version} and back, an object of ${from!.version} is what it was`, () => {
    fc.assert(
      fc.property(arbitraryOf(from!), (object) => {
        const there = convert(object, `${GROUP}/${by!.version}`);
        assert.deepEqual(convert(there, object.apiVersion), object);
      }),
      { numRuns: 150 },
    );
  });

test("arguments of v1beta1 are a list in v1beta2, and a name that repeats there survives v1beta1", () => {
  const args = { "cloud-provider": "external", "provider-id": "equinixmetal://{{ `{{ v1.instance_id }}` }}" };
  const joinConfiguration = { nodeRegistration: { kubeletExtraArgs: args }, discovery: { timeout: "5m0s" } };
  const read = convert(config("v1beta1", { spec: { joinConfiguration } }), `${GROUP}/v1beta2`) as KubeadmConfig;
  assert.deepEqual(read.spec.joinConfiguration?.nodeRegistration?.kubeletExtraArgs, [
    { name: "cloud-provider", value: "external" },
    { name: "provider-id", value: "equinixmetal://{{ `{{ v1.instance_id }}` }}" },
  ]);
  assert.equal(read.spec.joinConfiguration?.timeouts?.tlsBootstrapSeconds, 300);
  const twice = [
    { name: "feature-gates", value: "A=true" },
    { name: "feature-gates", value: "B=true" },
  ];
  const newer = config("v1beta2", { spec: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: twice } } } });
  assert.deepEqual(convert(convert(newer, `${GROUP}/v1beta1`), newer.apiVersion), newer);
});

test("the contract's field is read under either version's name", () => {
  const old = convert(
    config("v1beta2", { spec: {}, status: { initialization: { dataSecretCreated: true } } }),
    `${GROUP}/v1beta1`,
  );
  assert.equal((old as KubeObject & { status: { ready?: boolean } }).status.ready, true);
});
