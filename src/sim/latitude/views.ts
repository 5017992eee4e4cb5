import type { SimAssignment, SimNetwork, SimServer, SimUserData, World } from "./world.ts";

/** What the API shows of its resources. */
export function serverView(world: World, server: SimServer): object {
  const [external, internal] = server.hardware.nics;
  return {
    id: server.id,
    type: "servers",
    attributes: {
      hostname: server.hostname,
      label: server.label,
      status: server.status,
      ipmi_status: "Normal",
      role: "Bare Metal",
      site: server.site,
      locked: server.locked,
      rescue_allowed: true,
      primary_ipv4: server.hardware.publicIp,
      primary_ipv6: null,
      created_at: iso(server.createdAt),
      scheduled_deletion_at: null,
      plan: {
        id: `plan_${server.plan}`,
        name: server.plan.replaceAll("-", "."),
        slug: server.plan,
        billing: server.billing,
      },
      operating_system: { name: server.operatingSystem, slug: server.operatingSystem, version: "" },
      region: {
        city: server.site,
        country: "",
        site: { id: `loc_${server.site}`, name: server.site, slug: server.site },
      },
      specs: {
        cpu: "simulated",
        disk: `${server.hardware.diskGiB} GB NVME`,
        ram: "64 GB",
        nic: "2 x 10 Gbps",
        gpu: null,
      },
      interfaces: [
        { role: "ipmi", name: "IPMI", mac_address: null, description: "management" },
        { role: "external", name: external?.name, mac_address: external?.mac, description: "public network" },
        { role: "internal", name: internal?.name, mac_address: internal?.mac, description: "virtual networks" },
      ],
      project: world.project,
    },
  };
}

/** A server's deploy configuration as JSON:API. */
export function deployConfigView(world: World, server: SimServer): object {
  const reported = world.faults.hidesUserData ? undefined : server.userData;
  return {
    id: server.id,
    type: "deploy_config",
    attributes: {
      operating_system: server.operatingSystem,
      hostname: server.hostname,
      ssh_keys: server.sshKeys,
      partitions: null,
      ...(reported === undefined ? {} : { user_data: reported }),
    },
  };
}

/** User data as JSON:API, encoded and decoded. */
export function userDataView(world: World, item: SimUserData): object {
  return {
    id: item.id,
    type: "user_data",
    attributes: {
      description: item.description,
      content: item.content,
      decoded_content: Buffer.from(item.content, "base64").toString("utf8"),
      project: world.project,
      created_at: iso(item.createdAt),
      updated_at: iso(item.updatedAt),
    },
  };
}

/** A virtual network as JSON:API. */
export function networkView(world: World, network: SimNetwork): object {
  const { id, vid, description, site, createdAt } = network;
  const assignments = [...world.assignments.values()].filter((one) => one.network === id);
  return {
    id,
    type: "virtual_networks",
    attributes: {
      vid,
      name: `${site}-${vid}`,
      description,
      project: world.project,
      region: { city: site, country: "", site: { id: `loc_${site}`, name: site, slug: site } },
      created_at: iso(createdAt),
      assignments_count: assignments.length,
      tags: [],
    },
  };
}

/** An assignment as JSON:API; `connecting` until its time is over. */
export function assignmentView(world: World, assignment: SimAssignment): object {
  const network = world.networks.get(assignment.network);
  const server = world.servers.get(assignment.server);
  const connected = world.clock.now() - assignment.createdAt >= world.timings.connectingMs;
  return {
    id: assignment.id,
    type: "virtual_network_assignment",
    attributes: {
      virtual_network_id: assignment.network,
      vid: network?.vid,
      description: network?.description,
      status: connected ? "connected" : "connecting",
      server: {
        id: assignment.server,
        hostname: server?.hostname,
        label: server?.label,
        locked: server?.locked,
        status: server?.status,
      },
    },
  };
}

/** Whole seconds, with an offset. */
function iso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
}
