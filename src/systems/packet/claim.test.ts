import assert from "node:assert/strict";
import { test } from "node:test";
import type { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { claimOf, orderOf, placementsOf, specConcerns, type Wanted } from "./claim.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const NAMES = { namespace: "shop", cluster: "c1", machine: "worker-1" };

const wanted = (spec: Partial<PacketMachine["spec"]>, more: Partial<Wanted> = {}): Wanted => ({
  machine: aPacketMachine(spec),
  cluster: aPacketCluster({ metro: "da" }),
  names: NAMES,
  isControlPlane: false,
  failureDomain: undefined,
  ...more,
});
const order = (of: Wanted, projectId?: string) =>
  orderOf(of, { placement: placementsOf(of)[0]!, boot: { scriptUrl: "", userData: "#cloud-config" }, projectId });

test("B47 a machine is ordered where it says, else where its Machine's failure domain or its cluster says", () => {
  const metros = (of: Wanted) => placementsOf(of).map(({ metro }) => metro);
  assert.deepEqual(metros(wanted({})), ["da"]);
  assert.deepEqual(metros(wanted({ metro: "sv" })), ["sv"]);
  assert.deepEqual(metros(wanted({ metro: "sv" }, { failureDomain: "ny" })), ["ny"]);
  assert.deepEqual(metros(wanted({}, { failureDomain: "ny" })), ["ny"]);
  assert.deepEqual(metros(wanted({}, { cluster: undefined })), [undefined]);
  assert.deepEqual(metros(wanted({ metros: ["ny"] }, { cluster: undefined })), ["ny"]);
});

test("B30 a machine with a facility takes neither metro nor facility of its cluster, and one without takes both", () => {
  const cluster = aPacketCluster({ metro: "da", facility: "da11" });
  assert.deepEqual(placementsOf(wanted({ facility: "sv15" }, { cluster })), [
    { plan: "c3.small.x86", metro: undefined, facility: ["sv15"] },
  ]);
  assert.deepEqual(placementsOf(wanted({ metro: "sv" }, { cluster })), [{ plan: "c3.small.x86", metro: "sv" }]);
  assert.deepEqual(placementsOf(wanted({}, { cluster })), [{ plan: "c3.small.x86", metro: "da", facility: ["da11"] }]);
});

test("B47 every metro of the first plan comes before the next plan, and none comes twice", () => {
  const places = placementsOf(
    wanted({ metro: "sv", metros: ["ny", "sv"], machineTypes: ["m3.large.x86", "c3.small.x86"] }),
  );
  assert.deepEqual(
    places.map(({ plan, metro }) => `${plan}@${metro}`),
    ["c3.small.x86@sv", "c3.small.x86@ny", "m3.large.x86@sv", "m3.large.x86@ny"],
  );
});

test("B30 reservations are taken in their order, each with the first plan and metro alone", () => {
  const places = placementsOf(wanted({ hardwareReservationID: " r1, ,r2 ,r1", metro: "sv", metros: ["ny"] }));
  assert.deepEqual(places, [
    { plan: "c3.small.x86", metro: "sv", reservation: "r1" },
    { plan: "c3.small.x86", metro: "sv", reservation: "r2" },
  ]);
});

test("B30 an order carries the claim, the object, its group and the original's tags, each once", () => {
  const said = order(wanted({ tags: ["mine", "kubernetes.io/role:node"] }, { isControlPlane: true }), "project-1");
  assert.deepEqual(
    { ...said, placement: undefined, boot: undefined },
    {
      claim: "uid-1",
      claimant: {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
        kind: "PacketMachine",
        name: "worker-1",
        namespace: "shop",
      },
      group: "shop.c1",
      hostname: "worker-1",
      placement: undefined,
      operatingSystem: "ubuntu_24_04",
      boot: undefined,
      tags: [
        "capp:cluster-id:c1",
        "capp:machine-uid:worker-1",
        "capp:namespace:shop",
        "kubernetes.io/role:master",
        "mine",
        "kubernetes.io/role:node",
      ],
      projectId: "project-1",
    },
  );
  assert.deepEqual(order(wanted({ tags: ["kubernetes.io/role:node"] })).tags.slice(3), ["kubernetes.io/role:node"]);
});

test("B30 what a manifest leaves out is not in the order: project, billing cycle, keys, spot price", () => {
  const plain = order(wanted({}));
  for (const field of ["projectId", "billingCycle", "projectSshKeys", "sshPublicKeys", "spot"])
    assert.ok(!(field in plain), field);
  assert.equal(order(wanted({ billingCycle: "monthly" })).billingCycle, "monthly");
  assert.deepEqual(order(wanted({ spot: {} })).spot, {});
  assert.deepEqual(order(wanted({ spot: { maxPrice: "0.5" } })).spot, { maxPrice: "0.5" });
});

test("B30 keys by id are the project's, everything else is a public key, and empty lines are neither", () => {
  const id = "0f4b1b52-0f6a-4c0f-8f5b-9b6ad5f3a001";
  const { projectSshKeys, sshPublicKeys } = order(
    wanted({ sshKeys: [` ${id} `, "", "ssh_Abc12", "ssh-ed25519 AAAA me"] }),
  );
  assert.deepEqual(projectSshKeys, [id, "ssh_Abc12"]);
  assert.deepEqual(sshPublicKeys, ["ssh-ed25519 AAAA me"]);
  assert.ok(!("sshPublicKeys" in order(wanted({ sshKeys: [id] }))));
  assert.ok(!("projectSshKeys" in order(wanted({ sshKeys: ["ssh-rsa AAAA"] }))));
});

test("B34 a specification that can't work is refused with its field before anything is ordered", () => {
  const fields = (spec: Partial<PacketMachine["spec"]>) =>
    specConcerns(wanted(spec)).map(({ field, fatal }) => [field, fatal]);
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ machineType: "", os: "" }), [
    ["spec.machineType", true],
    ["spec.os", true],
  ]);
  assert.deepEqual(fields({ ipxeURL: "https://boot.test/x" }), [["spec.ipxeURL", true]]);
  assert.deepEqual(fields({ ipxeURL: "https://boot.test/x", os: "custom_ipxe" }), []);
  assert.deepEqual(fields({ spot: { maxPrice: "cheap" } }), [["spec.spot.maxPrice", true]]);
  assert.deepEqual(fields({ spot: { maxPrice: "-1" } }), [["spec.spot.maxPrice", true]]);
  assert.deepEqual(fields({ spot: { maxPrice: "0" } }), []);
  assert.deepEqual(fields({ spot: {} }), []);
});

test("a machine that is not handed over ends after 30 minutes; one that never joins is left to the cluster's health checks", () => {
  const claim = claimOf(wanted({}), 15_000);
  assert.deepEqual(
    [claim.id, claim.provisionTimeoutMs, claim.joinTimeoutMs, claim.passes, claim.pollMs],
    ["uid-1", 30 * 60_000, Number.POSITIVE_INFINITY, 1, 15_000],
  );
});
