/**
 * How a machine installs Harvester and joins: the configuration (`config.ts`), the kernel arguments and boot
 * scripts that lead to it, for every release from 1.0 to 1.9, and the check of both before a machine is bought
 * (`validate.ts`). Pure text from data: knows no Kubernetes object, no clock and no network.
 */
import { dump } from "js-yaml";
import type { HarvesterJoin, Management } from "./join.ts";
import { assertJoin } from "./validate.ts";
import { artifactsOf, type HarvesterVersion, since } from "./version.ts";

/** What every loader accepts as the first line, and what Equinix-compatible APIs check user data for. */
const HEADER = "#cloud-config\n";

/**
 * Who lists the management network's cards. The installer appends the configuration's list to the kernel arguments' one, so it is one of them:
 * `bootScript` for a script of ours, `config` for a script that names none.
 */
export type CardsFrom = "bootScript" | "config";

/**
 * The configuration that the installer of this very release reads, as user data or from `config_url`: only keys it knows, in snake case.
 * Holds the join token and the password: goes into Secrets and to the machine, nowhere else.
 * Throws `Fault` (`Invalid`) for what the installer would refuse.
 */
export function harvesterConfig(join: HarvesterJoin, cards: CardsFrom): string {
  assertJoin(join);
  const { version, iso } = artifactsOf(join);
  const config = {
    scheme_version: since.managementInterface(version) ? 1 : undefined,
    server_url: withPort(join.serverUrl),
    token: join.token,
    os: {
      hostname: join.hostname,
      password: join.password,
      ssh_authorized_keys: join.sshAuthorizedKeys,
      dns_nameservers: join.dnsNameservers,
      ntp_servers: join.ntpServers,
      labels: join.labels,
    },
    install: {
      automatic: true,
      mode: "join",
      role: since.role(version) ? join.role : undefined,
      cordoned: since.cordoned(version) ? join.cordoned : undefined,
      ...network(join.management, version, cards),
      device: join.device,
      data_disk: join.dataDisk,
      wipe_all_disks: join.wipeAllDisks,
      iso_url: iso,
      tty: join.tty,
      skipchecks: since.skipChecks(version) ? join.skipChecks : undefined,
      webhooks: join.webhooks?.map((hook) => ({
        event: hook.event,
        method: hook.method ?? "POST",
        url: hook.url,
        headers: hook.headers,
        payload: hook.payload,
        insecure: hook.insecure,
      })),
    },
  };
  return HEADER + dump(withoutEmpty(config), { lineWidth: -1, noRefs: true });
}

/** `install.management_interface` since 1.1, `install.networks.harvester-mgmt` before. */
function network(management: Management, version: HarvesterVersion, cards: CardsFrom): object {
  const shared = {
    interfaces: cards === "config" ? management.interfaces : undefined,
    method: management.method,
    default_route: true,
    ip: management.ip,
    subnet_mask: management.subnetMask,
    gateway: management.gateway,
    bond_options: management.bondOptions,
  };
  if (!since.managementInterface(version)) return { networks: { "harvester-mgmt": shared } };
  return { management_interface: { ...shared, mtu: management.mtu, vlan_id: management.vlanId } };
}

/** The port is written out: releases before 1.1.3 took a missing one for another. */
function withPort(serverUrl: string): string {
  return `https://${new URL(serverUrl).hostname}:443`;
}

/** Absent values, empty lists and empty maps are not written: a loader would take them for a decision. */
function withoutEmpty(value: object): object {
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, isMap(item) ? withoutEmpty(item) : Array.isArray(item) ? item.map(element) : item])
      .filter(([, item]) => item !== undefined && !(typeof item === "object" && Object.keys(item).length === 0)),
  );
}

function element(item: unknown): unknown {
  return isMap(item) ? withoutEmpty(item) : item;
}

function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
