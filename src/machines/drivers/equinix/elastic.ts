/** Elastic IPs and BGP of an Equinix Metal project. */
import { Fault, isFault } from "@slipway/base";
import type { AddressOrder, ElasticAddress, ElasticAddresses } from "../../elastic.ts";
import { PageBound } from "../page-bound.ts";
import { metroOf } from "./placement.ts";
import type { Session } from "./session.ts";

interface WireBlock {
  id?: string;
  type?: string;
  address?: string;
  tags?: readonly string[] | null;
  metro?: { code?: string } | null;
  assignments?: readonly { id?: string; href?: string; assigned_to?: { href?: string } | null }[] | null;
}

export interface ElasticPorts {
  session: Session;
  /** Id of the account's project. */
  project: (signal?: AbortSignal) => Promise<string>;
  metroMapping: Readonly<Record<string, string>>;
}

const PER_PAGE = 250;

/** The addresses of one project. */
export function elasticAddresses({ session, project, metroMapping }: ElasticPorts): ElasticAddresses {
  const inProject = async (signal?: AbortSignal, rest = "") =>
    `/projects/${encodeURIComponent(await project(signal))}${rest}`;

  const release = async (id: string, signal?: AbortSignal): Promise<void> => {
    const path = `/ips/${encodeURIComponent(id)}`;
    try {
      await session({ method: "DELETE", path, on: `address ${id}`, signal });
    } catch (error) {
      if (!isFault(error, "NotFound")) throw error;
    }
  };

  return {
    async list(signal) {
      const found = new Map<string, ElasticAddress>();
      const path = await inProject(signal, "/ips");
      const pages = new PageBound("the project's addresses");
      for (let page = 1, last = 1; page <= last; page++) {
        const query = { types: "public_ipv4", include: "assignments", per_page: PER_PAGE, ...(page > 1 && { page }) };
        const body = await session({ method: "GET", path, query, on: "the project's addresses", signal });
        const { ip_addresses: blocks, meta } = (body ?? {}) as Listed;
        if (!Array.isArray(blocks))
          throw new Fault("Unavailable", "the Metal API", "answered a list without ip_addresses");
        const addresses = blocks.flatMap(addressOf);
        pages.read(addresses.filter(({ id }) => !found.has(id)).length, found.size);
        for (const one of addresses) found.set(one.id, one);
        last = meta?.last_page ?? 1;
      }
      return [...found.values()];
    },

    async reserve(order: AddressOrder, signal) {
      const own = await project(signal);
      if (order.projectId !== undefined && order.projectId !== own)
        throw new Fault("Invalid", "elastic IP", `spec.projectID: the provider's account serves project ${own}`);
      const metro = metroMapping[order.metro] ?? metroOf(order.metro) ?? order.metro;
      const body = {
        ...{ type: "public_ipv4", quantity: 1, metro, tags: order.tags },
        fail_on_approval_required: true,
      };
      const path = await inProject(signal, "/ips");
      const made = addressOf(
        (await session({ method: "POST", path, body, on: `elastic IP in ${metro}`, signal })) as WireBlock,
      )[0];
      if (made === undefined) throw new Fault("LostAnswer", "the Metal API", "answered with an address that has no id");
      return made;
    },

    async assign({ address }, machine, signal) {
      const path = `/devices/${encodeURIComponent(machine)}/ips`;
      try {
        await session({ method: "POST", path, body: { address }, mayBeDone: true, on: `device ${machine}`, signal });
      } catch (error) {
        if (!isFault(error, "AlreadyConfigured")) throw error;
      }
    },

    async release(id, signal) {
      const path = `/ips/${encodeURIComponent(id)}`;
      const query = { include: "assignments" };
      try {
        const block = (await session({ method: "GET", path, query, on: `address ${id}`, signal })) as WireBlock;
        for (const { id: assignment } of addressOf(block)[0]?.assignments ?? []) await release(assignment, signal);
      } catch (error) {
        if (isFault(error, "NotFound")) return;
        throw error;
      }
      await release(id, signal);
    },

    async enableBgp({ asn, password }, signal) {
      const on = "BGP of the project";
      const held = await session({ method: "GET", path: await inProject(signal, "/bgp-config"), on, signal });
      const { id, status } = (held ?? {}) as { id?: string; status?: string };
      if (id && status !== "disabled") return;
      const body = {
        ...{ asn, deployment_type: "local", use_case: "kubernetes-load-balancer" },
        ...(password !== undefined && { md5: password }),
      };
      const path = await inProject(signal, "/bgp-configs");
      try {
        await session({ method: "POST", path, body, mayBeDone: true, on, signal });
      } catch (error) {
        if (!isFault(error, "AlreadyConfigured")) throw error;
      }
    },

    async openSession(machine, signal) {
      const path = `/devices/${encodeURIComponent(machine)}/bgp/sessions`;
      const body = { address_family: "ipv4" };
      try {
        await session({ method: "POST", path, body, mayBeDone: true, on: `device ${machine}`, signal });
      } catch (error) {
        if (!isFault(error, "AlreadyConfigured")) throw error;
      }
    },
  };
}

interface Listed {
  ip_addresses?: readonly WireBlock[];
  meta?: { last_page?: number };
}

function addressOf({ id, address, tags, metro, assignments }: WireBlock): ElasticAddress[] {
  if (!id || !address) return [];
  return [
    {
      ...{ id, address, tags: tags ?? [], metro: metro?.code },
      assignments: (assignments ?? []).flatMap((one) => {
        const assignment = one.id ?? lastPart(one.href);
        return assignment === undefined ? [] : [{ id: assignment, machine: machineIn(one.assigned_to?.href) }];
      }),
    },
  ];
}

function lastPart(href: string | undefined): string | undefined {
  return href?.split("/").at(-1) || undefined;
}

function machineIn(href: string | undefined): string | undefined {
  return href?.includes("/devices/") ? lastPart(href) : undefined;
}
