import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { hostTurn, machineId } from "./host-id.ts";
import { machineOf } from "./observe.ts";

const INSTALLS = { customDeploy: { method: "ipxe" } };

function machine(
  state: string,
  { spec = INSTALLS, annotations = {}, status = {} }: { spec?: object; annotations?: object; status?: object } = {},
) {
  return machineOf({
    metadata: { name: "node-1", namespace: "rack", uid: "h", annotations },
    spec: { consumerRef: { uid: "uid", name: "pool-a" }, ...spec },
    status: { provisioning: { state, ID: "" }, ...status },
  } as unknown as BareMetalHost);
}

test("a host that nobody has is no machine", () => {
  assert.equal(machine("available", { spec: { consumerRef: undefined } }), undefined);
});

test("a host's states are the phases of a machine", () => {
  assert.equal(machine("available")?.phase, "building");
  assert.equal(machine("provisioning")?.phase, "building");
  assert.equal(machine("provisioned")?.phase, "running");
  assert.equal(machine("provisioned", { status: { poweredOn: false } })?.phase, "stopped");
  assert.equal(machine("inspecting")?.phase, "unknown");
  assert.equal(machine("deprovisioning", { spec: {} })?.phase, "releasing");
  assert.equal(machine("available", { spec: {} })?.phase, "releasing");
  const annotations = { "slipway.dev/given-back": "uid" };
  assert.equal(machine("provisioned", { annotations })?.phase, "releasing");
});

test("a machine's addresses are its cards', each of its family, and none is public", () => {
  const nics = [{ ip: "10.0.0.5" }, {}, { ip: "fd00::5" }];
  assert.deepEqual(
    machine("provisioned", { status: { hardware: { nics } } })?.addresses.map((one) => [
      one.address,
      one.family,
      one.public,
    ]),
    [
      ["10.0.0.5", 4, false],
      ["fd00::5", 6, false],
    ],
  );
});

test("a machine begins with its installation, and before that it has no time", () => {
  const start = "2026-01-01T10:00:00Z";
  const began = (provision?: object) => machine("provisioning", { status: { operationHistory: { provision } } });
  assert.equal(began({ start, end: null })?.createdAt, Date.parse(start));
  for (const none of [undefined, {}, { start: null, end: null }]) assert.equal(began(none)?.createdAt, undefined);
});

test("a mark of another's turn says nothing of this one", () => {
  const annotations = { "slipway.dev/given-back": "another" };
  assert.equal(machine("provisioned", { annotations })?.phase, "running");
});

test("a host that is wiped to be installed again is not on its way out", () => {
  const annotations = { "slipway.dev/install-again": "{}" };
  for (const state of ["deprovisioning", "available"])
    assert.equal(machine(state, { annotations, spec: {} })?.phase, "reinstalling");
  assert.equal(machine("provisioned", { annotations })?.phase, "running");
});

test("an installation that has failed twice is a failed machine, with what failed", () => {
  const status = { errorCount: 2, errorMessage: "no power" };
  const failed = machine("provisioning", { status });
  assert.deepEqual(
    [failed?.phase, failed?.providerState, failed?.lastEvent],
    ["failed", "provisioning failed", "no power"],
  );
  assert.equal(machine("provisioning", { status: { errorCount: 1 } })?.phase, "building");
  // What fails afterwards, such as a look at its power, is no reason to give up a machine in service.
  assert.equal(machine("provisioned", { status })?.phase, "running");
});

test("an id is a host's turn with a claim", () => {
  const id = machine("available")!.id;
  assert.equal(id, "rack/node-1/uid");
  assert.equal(machineId(hostTurn(id)), id);
  for (const wrong of ["", "node-1", "rack/node-1", "rack//uid", "a/b/c/d"])
    assert.throws(() => hostTurn(wrong), /namespace\/name\/claim/);
});
