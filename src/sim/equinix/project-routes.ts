import { type HttpAnswer, json, uuid } from "@slipway/base";
import { METROS } from "./catalog.ts";
import type { Reservation, SshKey } from "./cloud.ts";
import type { SimVlan } from "./device.ts";
import { facilityOf } from "./facilities.ts";
import { pageOf } from "./paging.ts";
import { facilityView, href } from "./place-views.ts";
import { textIn } from "./reading.ts";
import { notFound, unprocessable } from "./refused.ts";
import { type Asked, projectIn, type Route } from "./router.ts";
import { deviceReference, projectView, sshKeyView, vlanView } from "./views.ts";

/** The range that numbers are drawn from when the order names none, and the range it may name. */
const AUTOMATIC = { first: 1000, last: 1999 };
const NAMED = { first: 2, last: 3999 };

export const projectRoutes: readonly Route[] = [
  {
    operation: "findProjects",
    method: "GET",
    pattern: "/projects",
    answer({ cloud, query }) {
      const name = query.get("name") ?? "";
      const all = [...cloud.projects.values()].filter((project) => project.name.includes(name));
      const { items, meta } = pageOf(all, "/projects", query);
      return json(200, { projects: items.map(projectView), meta });
    },
  },
  {
    operation: "findProjectById",
    method: "GET",
    pattern: "/projects/:",
    answer: (asked) => json(200, projectView(asked.cloud.projects.get(projectIn(asked))!)),
  },
  {
    operation: "findVirtualNetworks",
    method: "GET",
    pattern: "/projects/:/virtual-networks",
    answer(asked) {
      const project = projectIn(asked);
      const metro = asked.query.get("metro");
      const found = [...asked.cloud.vlans.values()].filter(
        (vlan) => vlan.projectId === project && (metro === null || vlan.metro === metro),
      );
      return json(200, { virtual_networks: found.map(vlanView) });
    },
  },
  {
    operation: "createVirtualNetwork",
    method: "POST",
    pattern: "/projects/:/virtual-networks",
    answer(asked) {
      const vlan = newVlan(asked, projectIn(asked));
      asked.cloud.addVlan(vlan);
      return json(201, vlanView(vlan));
    },
  },
  {
    operation: "getVirtualNetwork",
    method: "GET",
    pattern: "/virtual-networks/:",
    answer: (asked) => json(200, vlanView(vlanIn(asked))),
  },
  {
    operation: "deleteVirtualNetwork",
    method: "DELETE",
    pattern: "/virtual-networks/:",
    answer(asked) {
      const vlan = vlanIn(asked);
      const { ports, gateways } = asked.cloud;
      if ([...ports.values()].some((port) => port.vlans.includes(vlan)))
        throw unprocessable("The virtual network is assigned to ports: unassign it first");
      if ([...gateways.values()].some(({ vlanId }) => vlanId === vlan.id))
        throw unprocessable("The virtual network has a metal gateway: delete that first");
      asked.cloud.removeVlan(vlan);
      return json(200, vlanView(vlan));
    },
  },
  {
    operation: "findHardwareReservationById",
    method: "GET",
    pattern: "/hardware-reservations/:",
    answer({ cloud, path }) {
      const reservation = cloud.reservations.get(path[1]!);
      if (reservation === undefined) throw notFound();
      return json(200, reservationView(reservation));
    },
  },
  {
    operation: "findProjectHardwareReservations",
    method: "GET",
    pattern: "/projects/:/hardware-reservations",
    answer(asked) {
      const path = `/projects/${projectIn(asked)}/hardware-reservations`;
      const { items, meta } = pageOf([...asked.cloud.reservations.values()], path, asked.query);
      return json(200, { hardware_reservations: items.map(reservationView), meta });
    },
  },
  {
    operation: "findProjectSSHKeys",
    method: "GET",
    pattern: "/projects/:/ssh-keys",
    answer(asked) {
      const project = projectIn(asked);
      const keys = [...asked.cloud.sshKeys.values()].filter((key) => key.projectId === project);
      return json(200, { ssh_keys: keys.map(sshKeyView) });
    },
  },
  {
    operation: "createProjectSSHKey",
    method: "POST",
    pattern: "/projects/:/ssh-keys",
    answer: (asked) => json(201, sshKeyView(newSshKey(asked, projectIn(asked)))),
  },
  {
    operation: "findSSHKeys",
    method: "GET",
    pattern: "/ssh-keys",
    answer({ cloud }) {
      const keys = [...cloud.sshKeys.values()].filter((key) => key.projectId === undefined);
      return json(200, { ssh_keys: keys.map(sshKeyView) });
    },
  },
  {
    operation: "createSSHKey",
    method: "POST",
    pattern: "/ssh-keys",
    answer: (asked) => json(201, sshKeyView(newSshKey(asked, undefined))),
  },
  {
    operation: "findSSHKeyById",
    method: "GET",
    pattern: "/ssh-keys/:",
    answer: (asked) => json(200, sshKeyView(keyIn(asked))),
  },
  { operation: "updateSSHKey", method: "PUT", pattern: "/ssh-keys/:", answer: updateKey },
  { operation: "updateSSHKey", method: "PATCH", pattern: "/ssh-keys/:", answer: updateKey },
  {
    operation: "deleteSSHKey",
    method: "DELETE",
    pattern: "/ssh-keys/:",
    answer({ cloud, path }) {
      if (!cloud.sshKeys.delete(path[1]!)) throw notFound();
      return { status: 204, headers: {}, body: "" };
    },
  },
];

function vlanIn({ cloud, path }: Asked): SimVlan {
  const vlan = cloud.vlans.get(path[1]!);
  if (vlan === undefined) throw notFound();
  return vlan;
}

function keyIn({ cloud, path }: Asked): SshKey {
  const key = cloud.sshKeys.get(path[1]!);
  if (key === undefined) throw notFound();
  return key;
}

function updateKey(asked: Asked): HttpAnswer {
  const key = keyIn(asked);
  key.label = textIn(asked.body.label) ?? key.label;
  key.key = textIn(asked.body.key) ?? key.key;
  return json(200, sshKeyView(key));
}

function newVlan({ cloud, body }: Asked, projectId: string): SimVlan {
  const metro = String(body.metro ?? "").toLowerCase();
  if (!METROS.has(metro)) throw unprocessable(`metro ${metro} is not a valid metro`);
  const wished = body.vxlan === undefined || body.vxlan === null ? undefined : Number(body.vxlan);
  const taken = (vxlan: number): boolean => cloud.vlan(projectId, metro, String(vxlan)) !== undefined;
  const vxlan = wished === undefined ? freeVxlan(taken) : namedVxlan(wished, taken(wished), metro);
  const description = typeof body.description === "string" ? body.description : "";
  return { id: uuid(cloud.random), projectId, metro, vxlan, description };
}

function namedVxlan(wished: number, taken: boolean, metro: string): number {
  const valid = Number.isInteger(wished) && wished >= NAMED.first && wished <= NAMED.last;
  if (!valid) throw unprocessable(`vxlan must be from ${NAMED.first} to ${NAMED.last}`);
  if (taken) throw unprocessable(`vxlan ${wished} has already been taken in ${metro}`);
  return wished;
}

function freeVxlan(taken: (vxlan: number) => boolean): number {
  let vxlan = AUTOMATIC.first;
  while (taken(vxlan)) vxlan++;
  if (vxlan > AUTOMATIC.last) throw unprocessable("No VLAN numbers are left in this metro");
  return vxlan;
}

function reservationView({ id, plan, metro, device }: Reservation): object {
  return {
    ...href(`/hardware-reservations/${id}`),
    id,
    short_id: id.slice(0, 8),
    plan: { slug: plan, name: plan },
    facility: facilityView(facilityOf(metro)),
    provisionable: device === undefined,
    spare: false,
    need_of_service: false,
    ...(device === undefined ? {} : { device: deviceReference(device.id) }),
  };
}

function newSshKey({ cloud, body }: Asked, projectId: string | undefined): SshKey {
  if (typeof body.key !== "string" || body.key === "") throw unprocessable("key can't be blank");
  const label = typeof body.label === "string" ? body.label : "";
  const key: SshKey = { id: uuid(cloud.random), label, key: body.key, projectId };
  cloud.sshKeys.set(key.id, key);
  return key;
}
