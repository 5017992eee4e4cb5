/**
 * What harvester-equinix-addon leaves behind: objects as it wrote them at every stage of a machine's life, with the machine it bought.
 * Written from the reference's description of its behaviour, zero values of its Go types included.
 */
import assert from "node:assert/strict";
import { plain } from "@slipway/base";
import { ConfigMap, Node } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { CapiMachine } from "../../src/sim/site/capi-machine.ts";
import { HarvesterWorld, type HarvesterWorldOptions } from "./harvester-world.ts";
import { JOIN_TOKEN, SECOND, VIP } from "./world.ts";

export const { token: API_KEY, project: PROJECT } = EXAMPLE_KEYS.equinix;
export const PASSWORD = "QwErTyUiOpAsDfGh";
const SHELL = "https://scripts.example/custom_pxe/master/shell.ipxe";
const INSTALL = "https://scripts.example/mine/install.ipxe";
const BASE = "https://releases.example/v1.8.1/harvester-v1.8.1";
export const MANAGERS = ["manager-1", "manager-2", "manager-3"];
export const FINALIZERS = ["wrangler.cattle.io/instance-remove", "equinix.instance.harvesterhci.io"];

/** A user's own second script: what the addon's configuration lacks for later releases stands in the kernel arguments, which win. */
const INSTALL_SCRIPT = `#!ipxe
dhcp
kernel ${BASE}-vmlinuz-amd64 ip=dhcp root=live:${BASE}-rootfs-amd64.squashfs harvester.install.automatic=true harvester.scheme_version=1 harvester.server_url=https://${VIP}:443 harvester.install.management_interface.interfaces="hwAddr:\${net0/mac}" harvester.install.management_interface.method=dhcp harvester.install.config_url=https://metadata.platformequinix.com/userdata
initrd ${BASE}-initrd-amd64
boot
`;

/** What the addon took where the pool named none. */
const ADDON_ISO = "https://releases.rancher.com/harvester/master/harvester-master-amd64.iso";

/** The addon's rendering: lower-case keys, and every value that is empty. */
const userdata = (hostname: string): string => `#cloud-config
serverurl: https://${VIP}:8443
token: ${JOIN_TOKEN}
os:
  sshauthorizedkeys: []
  hostname: ${hostname}
  password: ${PASSWORD}
install:
  automatic: true
  mode: join
  networks: {}
  vip: ""
  device: /dev/sda
  isourl: ${ADDON_ISO}
  tty: ttyS1,115200n8
runtimeversion: ""
`;

export const STATES = ["queued", "submitted", "reinstalling", "ready", "managed"] as const;
export type State = (typeof STATES)[number];

/** The cloud's API as the addon called it. */
export async function call(
  world: HarvesterWorld,
  method: "POST" | "PUT",
  path: string,
  body: object,
): Promise<{ id: string }> {
  const headers = { "x-auth-token": API_KEY, "content-type": "application/json" };
  const url = `https://api.equinix.com/metal/v1${path}`;
  const answer = await world.equinix.handle({ method, url, headers, body: JSON.stringify(body), remote: "192.0.2.1" });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body}`);
  return answer.body === "" ? { id: "" } : JSON.parse(answer.body);
}

/** Buys a machine as the addon does, without any mark on it, and brings it to where the addon would write that state. */
export async function machineOfAddon(world: HarvesterWorld, hostname: string, state: State): Promise<string> {
  const { id } = await call(world, "POST", `/projects/${PROJECT.id}/devices`, {
    hostname,
    plan: "c3.small.x86",
    metro: "SG",
    operating_system: "custom_ipxe",
    billing_cycle: "hourly",
    project_id: PROJECT.id,
    tags: null,
    ipxe_script_url: SHELL,
  });
  if (state === "queued" || state === "submitted") return id;
  const active = () => world.equinix.device(id)?.state === "active";
  await world.until(`${hostname} is active`, active);
  await call(world, "PUT", `/devices/${id}`, { userdata: userdata(hostname), ipxe_script_url: INSTALL });
  const reinstall = { type: "reinstall", preserve_data: true, deprovision_fast: true };
  await call(world, "POST", `/devices/${id}/actions`, reinstall);
  await world.clock.run(5 * SECOND);
  if (state === "reinstalling") return id;
  await world.until(`${hostname} is active again`, active);
  if (state === "ready") return id;
  await world.until(`${hostname} has joined`, async () => world.equinix.device(id)?.stage === "joined");
  return id;
}

export interface Taken {
  name: string;
  id: string;
  state: State;
}

/** A pool of the addon's with one machine in each of the states. */
export async function poolOfAddon(
  world: HarvesterWorld,
  states: readonly State[],
  spec: object = {},
): Promise<Taken[]> {
  world.serve("https://scripts.example", async ({ url }) =>
    plain(200, url === INSTALL ? INSTALL_SCRIPT : "#!ipxe\nshell"),
  );
  const count = states.length;
  const pool = await world.pool("rack", { count, ipxeScriptUrl: INSTALL, managementInterface: ["eth0"], ...spec });
  const status = { status: "submitted", ready: 0, requested: count, needed: 0, token: JOIN_TOKEN };
  await world.client.patch(
    InstancePool,
    { name: "rack" },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  const taken: Taken[] = [];
  // Those that need most time first.
  for (const [index, state] of [...states.entries()].toReversed()) {
    const name = `rack-abcdefg${"abcdefgh"[index]}`;
    const id = await machineOfAddon(world, name, state);
    taken.push({ name, id, state });
    await world.client.create(Instance, {
      metadata: {
        name,
        labels: { instancePool: "rack" },
        annotations: { token: API_KEY, password: PASSWORD, reconfig_ipxe_url: INSTALL },
        finalizers: FINALIZERS,
        ownerReferences: [
          { apiVersion: "equinix.harvesterhci.io/v1", kind: "InstancePool", name: "rack", uid: pool.metadata.uid },
        ],
      },
      spec: {
        plan: "c3.small.x86",
        metro: "SG",
        operating_system: "custom_ipxe",
        billingCycle: "hourly",
        projectID: PROJECT.id,
        userdata: userdata(name),
        ipxeScriptUrl: SHELL,
        managementInterfaces: ["eth0"],
        // Go writes the zero value of what is a struct to it.
        spotPriceMax: "0",
        networkingConfiguration: {},
      },
    });
    const addresses = world.equinix.device(id)!.hardware;
    const shown = state === "ready" || state === "managed";
    const held = {
      status: state,
      instanceID: id,
      publicIP: shown ? addresses.publicIp : "",
      privateIP: shown ? addresses.privateIp : "",
    };
    await world.client.patch(Instance, { name }, { type: "merge", body: { status: held } }, { subresource: "status" });
  }
  return taken;
}

/** The cluster that was there before any pool: its managers are not the addon's. */
export async function managers(world: HarvesterWorld): Promise<void> {
  for (const name of MANAGERS) {
    const labels = { "node-role.kubernetes.io/control-plane": "true" };
    await world.client.create(Node, { metadata: { name, labels }, spec: {} });
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    await world.client.patch(Node, { name }, { type: "merge", body: { status } }, { subresource: "status" });
  }
}

/** Runs `work` in a world with three manager nodes, and closes it. */
export async function using(
  work: (world: HarvesterWorld) => Promise<void>,
  options: HarvesterWorldOptions = {},
): Promise<void> {
  const world = await HarvesterWorld.create(options);
  try {
    await managers(world);
    await work(world);
  } finally {
    await world.close();
  }
}

/** No object but Secrets, and no line of the log, contains the API key, the join token or a password. */
export async function assertNoSecretOutsideSecrets(world: HarvesterWorld): Promise<void> {
  const objects = [
    ...(await world.pools()),
    ...(await world.instances()),
    ...(await world.nodes()),
    ...(await world.events()),
    ...(await world.client.list(ConfigMap)).items,
    ...(await world.client.list(CapiMachine, { namespace: "fleet-local" })).items,
  ];
  const said = [JSON.stringify(objects), ...world.logged].join("\n");
  for (const secret of [API_KEY, JOIN_TOKEN, PASSWORD]) assert.ok(!said.includes(secret));
}
