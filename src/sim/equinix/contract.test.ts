import assert from "node:assert/strict";
import { test } from "node:test";
import { type Http, type HttpAnswer, isFault, json } from "@slipway/base";
import { NETWORK_MODES } from "../../machines/machine.ts";
import { type Contract, documentFile, openContract } from "../contract/openapi-checker.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { order, type Rig, rig } from "./rig.ts";

const { file, skip } = documentFile("equinix-metal.yaml");
const BASE = "/metal/v1";
const KEY = "7e570000-0000-4000-8000-000000000000";

/**
 * What the service does beside its document: references are closed to their `href`, and `include` makes them whole all the same; the ends of a
 * list are null where the document has nothing, since clients read them without asking.
 */
const BESIDE = /virtual_networks\[\d+\]\.\w+: not in the document$|body\.meta\.(next|previous): null$/;

let opened: Contract | undefined;
function contract(): Contract {
  opened ??= openContract(file, BASE);
  return opened;
}

/** A rig in which each exchange is held against the document. */
function watched(options: Parameters<typeof rig>[0] = {}): Rig & { breaches: string[] } {
  const breaches: string[] = [];
  const wrap =
    (http: Http): Http =>
    async (request) => {
      const answer = await http(request);
      const found = [...contract().request(request), ...contract().answer(request, answer)];
      breaches.push(...found.filter((breach) => !BESIDE.test(breach)));
      return answer;
    };
  return { ...rig({ ...options, wrap }), breaches };
}

const PROJECT = `/projects/${DEFAULT_PROJECT.id}`;

function ask(cloud: Rig, method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<HttpAnswer> {
  return cloud.http({
    method,
    url: `https://metal.test${BASE}${path}`,
    headers: { "x-auth-token": DEFAULT_TOKEN },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test("every request of the driver and every answer to it is of the document's form", { skip }, async () => {
  const cloud = watched({ reservations: [{ plan: "c3.small.x86", metro: "sg" }] });
  const { driver, clock } = cloud;
  const key = JSON.parse(
    (await ask(cloud, "POST", `${PROJECT}/ssh-keys`, { label: "mine", key: "ssh-ed25519 AAAA" })).body,
  ) as { id: string };
  const full = order({
    tags: ["mine"],
    billingCycle: "hourly",
    description: "a node",
    reservation: "next-available",
    features: { tpm: "required" },
    customData: '{"rack":1}',
    userSshKeys: [KEY],
    projectSshKeys: [key.id],
    publicIPv4SubnetSize: 31,
    alwaysPxe: true,
  });
  const { id } = await driver.create(full);
  await driver.create(order({ claim: "spot", hostname: "spot", spot: { maxPrice: "0.5" }, noSshKeys: true }));
  let machine = await cloud.until(id, "running");
  for (const mode of [...NETWORK_MODES, ...NETWORK_MODES.toReversed()]) {
    const port = mode === "hybrid" || mode === "layer2-individual" ? "eth1" : "bond0";
    const vlans = mode === "layer3" ? [] : [{ port, vlans: ["1001", "1002"] }];
    machine = await driver.setNetwork(machine, { mode, vlans, createVlans: true });
  }
  await driver.list();
  await driver.priceOf?.({ plan: "c3.small.x86", metro: "sg" });
  await driver.find("claim-1");
  await driver.configure(id, { userData: "#cloud-config\n" });
  await driver.reinstall(id, { scriptUrl: "https://boot.test/2", userData: "#cloud-config\n" });
  await clock.run(5_000);
  machine = await cloud.until(id, "running");
  for (const action of ["off", "on", "cycle"] as const) {
    await driver.power(id, action);
    await clock.run(30_000);
  }
  await driver.release(id, { force: true });
  await clock.run(120_000);
  assert.equal(await driver.read(id), undefined);

  assert.deepEqual(cloud.breaches, []);
  const used = Object.keys(cloud.sim.counters()).sort();
  const onPorts = ["assignPort", "bondPort", "convertLayer2", "convertLayer3", "disbondPort", "unassignPort"];
  const onDevices = [
    "createDevice",
    "deleteDevice",
    "findDeviceById",
    "findPlansByProject",
    "findProjectDevices",
    "performAction",
    "updateDevice",
  ];
  assert.deepEqual(
    used,
    [...onPorts, ...onDevices, "createProjectSSHKey", "createVirtualNetwork", "findVirtualNetworks"].sort(),
  );
});

test("refusals have the document's form and status", { skip }, async () => {
  const cloud = watched({ capacity: { "sg/c3.small.x86": 0 } });
  const refused = async (work: Promise<unknown>): Promise<void> => {
    await assert.rejects(work, (error) => isFault(error));
  };
  await refused(cloud.driver.create(order()));
  await refused(cloud.driver.power(KEY, "on"));
  assert.equal(await cloud.driver.read(KEY), undefined);
  cloud.sim.rotateKey("another");
  await refused(cloud.driver.list());
  assert.deepEqual(cloud.breaches, []);
});

test("what the cloud answers besides is of the document's form too", { skip }, async () => {
  const cloud = watched({ reservations: [{ plan: "c3.small.x86", metro: "sg" }] });
  const { id } = await cloud.driver.create(order({ reservation: "next-available" }));
  await cloud.until(id, "running");
  const reads = [
    "/user",
    "/plans",
    "/locations/metros",
    "/capacity/metros",
    "/market/spot/prices/metros",
    "/ssh-keys",
    "/projects",
    "/organizations",
    "/facilities",
    "/operating-systems",
    "/events?per_page=3",
  ];
  const inProject = [
    "",
    "/plans",
    "/virtual-networks",
    "/hardware-reservations",
    "/ssh-keys",
    "/devices?per_page=5&search=pool",
    "/facilities",
    "/events",
    "/ips",
    "/bgp-config",
    "/bgp/sessions",
    "/metal-gateways",
    "/spot-market-requests",
  ];
  const ofDevice = ["/events", "/metadata", "/userdata", "/ips", "/ssh-keys", "/bgp/sessions", "/bgp/neighbors"];
  for (const path of [
    ...reads,
    ...inProject.map((rest) => PROJECT + rest),
    ...ofDevice.map((rest) => `/devices/${id}${rest}`),
  ]) {
    assert.equal((await ask(cloud, "GET", path)).status, 200, path);
  }
  const port = cloud.sim.device(id)!.ports[0]!;
  assert.equal((await ask(cloud, "GET", `/ports/${port.id}`)).status, 200);
  assert.deepEqual(cloud.breaches, []);
});

test("keys, VLANs, reservations, addresses, BGP, gateways and spot requests: made, read by id, changed and deleted in the document's form", {
  skip,
}, async () => {
  const cloud = watched({ reservations: [{ plan: "c3.small.x86", metro: "sg" }] });
  const { id } = await cloud.driver.create(order({ reservation: "next-available" }));
  await cloud.until(id, "running");
  const done = async (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<Made> => {
    const answer = await ask(cloud, method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body === "" ? { id: "" } : (JSON.parse(answer.body) as Made);
  };

  for (const folder of [`${PROJECT}/ssh-keys`, "/ssh-keys"]) {
    const key = await done("POST", folder, { label: "mine", key: "ssh-ed25519 AAAA" });
    await done("PUT", `/ssh-keys/${key.id}`, { label: "ours" });
    await done("GET", `/ssh-keys/${key.id}`);
    await done("DELETE", `/ssh-keys/${key.id}`);
  }
  const block = await done("POST", `${PROJECT}/ips`, { type: "public_ipv4", quantity: 1, metro: "sg", tags: ["vip"] });
  const given = await done("POST", `/devices/${id}/ips`, { address: block.address });
  for (const path of [`/ips/${block.id}`, `/ips/${given.id}`, `/devices/${id}/ips`, `${PROJECT}/ips`, `/devices/${id}`])
    await done("GET", path);
  await done("DELETE", `/ips/${given.id}`);
  await done("DELETE", `/ips/${block.id}`);

  await done("POST", `${PROJECT}/bgp-configs`, { asn: 65000, deployment_type: "local", md5: "aA1bB2cC3dD4" });
  const session = await done("POST", `/devices/${id}/bgp/sessions`, { address_family: "ipv4" });
  for (const path of [`${PROJECT}/bgp-config`, `/bgp/sessions/${session.id}`, `/devices/${id}/bgp/neighbors`])
    await done("GET", path);
  await done("DELETE", `/bgp/sessions/${session.id}`);

  const vlan = await done("POST", `${PROJECT}/virtual-networks`, { metro: "sg" });
  const gateway = await done("POST", `${PROJECT}/metal-gateways`, {
    virtual_network_id: vlan.id,
    private_ipv4_subnet_size: 8,
  });
  for (const path of [`/metal-gateways/${gateway.id}`, `/virtual-networks/${vlan.id}`]) await done("GET", path);
  await done("DELETE", `/metal-gateways/${gateway.id}`);
  await done("DELETE", `/virtual-networks/${vlan.id}`);

  const spot = await done("POST", `${PROJECT}/spot-market-requests`, {
    ...{ devices_min: 1, devices_max: 2, max_bid_price: 0.5, metro: "da" },
    instance_parameters: { plan: "c3.small.x86", operating_system: "ubuntu_20_04", hostname: "spot" },
  });
  await done("GET", `/spot-market-requests/${spot.id}`);
  await done("DELETE", `/spot-market-requests/${spot.id}`);
  await done("GET", `/hardware-reservations/${cloud.sim.device(id)!.reservation}`);
  assert.deepEqual(cloud.breaches, []);
});

interface Made {
  id: string;
  address?: string;
}

test("the check finds what is wrong", { skip }, () => {
  const url = `https://metal.test${BASE}/projects/${KEY}/devices`;
  const wrong = (query: string, body: unknown): number =>
    contract().request({ method: "POST", url: url + query, body: JSON.stringify(body) }).length;
  const good = { plan: "p", operating_system: "o", metro: "sg" };
  assert.equal(wrong("", good), 0);
  assert.ok(wrong("", { ...good, spot_price_max: "0.5" }) > 0);
  assert.ok(wrong("", { ...good, userData: "" }) > 0);
  assert.ok(wrong("?force=true", good) > 0);
  const answered = json(201, { state: "melting", id: KEY });
  assert.ok(contract().answer({ method: "POST", url }, answered).length > 0);
});
