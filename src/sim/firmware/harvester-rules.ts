import type { Hardware } from "../hardware.ts";
import type { HarvesterConfig, Network, Webhook } from "./harvester-schema.ts";
import { installerRules, type Version } from "./harvester-versions.ts";

/** What the installer sees of the machine it runs on. */
export interface InstallTarget {
  hardware: Hardware;
  /** Block devices and their sizes in GiB. */
  disks: Readonly<Record<string, number>>;
  /** Interface names as the running kernel gives them, in the order of `hardware.nics`. */
  interfaceNames: readonly string[];
  /** What a preflight check would complain about: too few cores, a slow NIC, … */
  warnings: readonly string[];
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const EVENTS: readonly string[] = ["STARTED", "SUCCEEDED", "FAILED"];
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The first thing that this release's installer would refuse about an automatic install, in our words; undefined: it installs. */
export function refusal(config: HarvesterConfig, target: InstallTarget, version: Version): string | undefined {
  const rules = installerRules(version);
  const install = config.install ?? {};
  const skip = rules.preflight && install.skipchecks === true;
  return (
    firmwareProblem(rules.uefiOnly, target.hardware) ??
    (install.automatic === true ? undefined : "install.automatic is not set: the installer waits for a person") ??
    modeProblem(install.mode) ??
    serverUrlProblem(config.server_url, rules.strictServerUrl) ??
    (install.iso_url ? undefined : "install.iso_url is missing: an automatic installation needs it") ??
    (config.token ? undefined : "token is missing") ??
    loginProblem(config) ??
    webhookProblem(install.webhooks ?? []) ??
    schemeProblem(rules.schemeVersion, config.scheme_version) ??
    hostnameProblem(config.os?.hostname ?? "") ??
    diskProblem(config, target, version, skip) ??
    networkProblem(managementNetwork(config, version), config, target) ??
    // Printable ASCII but the space's neighbours: the characters the installer's own check lists.
    (/^[\x20-\x7e]+$/.test(config.token!) ? undefined : "token has characters other than printable ASCII") ??
    roleProblem(install.role, rules.roles) ??
    preflightProblem(rules.preflight && !skip, target.warnings)
  );
}

function firmwareProblem(uefiOnly: boolean, { firmware }: Hardware): string | undefined {
  if (!uefiOnly || firmware !== "bios") return undefined;
  return "this release installs on UEFI only, the machine booted in legacy BIOS mode";
}

function loginProblem({ os }: HarvesterConfig): string | undefined {
  const canLogIn = (os?.ssh_authorized_keys?.length ?? 0) > 0 || os?.password;
  return canLogIn ? undefined : "os has neither a password nor an SSH key";
}

function schemeProblem(versioned: boolean, version: number | undefined): string | undefined {
  return versioned && version !== 1 ? `scheme_version must be 1, not ${version ?? "absent"}` : undefined;
}

function preflightProblem(checks: boolean, warnings: readonly string[]): string | undefined {
  if (!checks || warnings[0] === undefined) return undefined;
  return `preflight: ${warnings.join("; ")} (install.skipchecks is not set)`;
}

/** The management network where this release looks for it. */
export function managementNetwork(config: HarvesterConfig, version: Version): Network | undefined {
  const where = installerRules(version).management;
  return where === "networks" ? config.install?.networks?.["harvester-mgmt"] : config.install?.management_interface;
}

function modeProblem(mode: string | undefined): string | undefined {
  if (mode === "join") return undefined;
  return mode === "create" || mode === "install" || mode === "upgrade"
    ? `install.mode ${mode} is not simulated: machines here join a cluster`
    : `install.mode ${JSON.stringify(mode ?? "")} is unknown`;
}

function serverUrlProblem(url: string | undefined, strict: boolean): string | undefined {
  if (!url) return "server_url is missing: a joining machine needs it";
  const parsed = URL.parse(url);
  if (parsed === null || parsed.protocol !== "https:") return "server_url is not an https URL";
  if (!strict) return undefined;
  if (parsed.port !== "" && parsed.port !== "443")
    return `server_url has port ${parsed.port}: only 443 or none is accepted`;
  return parsed.pathname === "/" && !url.endsWith("/") && parsed.search === ""
    ? undefined
    : "server_url must not have a path";
}

function webhookProblem(webhooks: readonly Webhook[]): string | undefined {
  for (const [index, hook] of webhooks.entries()) {
    const at = `install.webhooks[${index}]`;
    if (!EVENTS.includes(hook.event ?? "")) return `${at}: unknown event ${JSON.stringify(hook.event ?? "")}`;
    if (!METHODS.includes((hook.method ?? "").toUpperCase()))
      return `${at}: unknown method ${JSON.stringify(hook.method ?? "")}`;
    if (URL.parse((hook.url ?? "").replaceAll(/\{\{[^}]*\}\}/g, "x")) === null) return `${at}: url is not an URL`;
  }
  return undefined;
}

function hostnameProblem(hostname: string): string | undefined {
  return DNS_SUBDOMAIN.test(hostname) && hostname.length <= 253
    ? undefined
    : "os.hostname is not a lower-case RFC 1123 subdomain";
}

function diskProblem(
  { install = {} }: HarvesterConfig,
  { disks, hardware }: InstallTarget,
  version: Version,
  skip: boolean,
): string | undefined {
  const rules = installerRules(version);
  const { device, data_disk: data } = install;
  if (!device) return "install.device is missing";
  const size = disks[device];
  if (size === undefined) return `install.device ${device} does not exist on ${hardware.hostname}`;
  const beside = data !== undefined && data !== "" && data !== device;
  if (beside && disks[data] === undefined) return `install.data_disk ${data} does not exist on ${hardware.hostname}`;
  if (install.force_mbr && hardware.firmware === "uefi") return "install.force_mbr does not go with UEFI";
  if (skip) return undefined;
  const smallest = beside || install.role === "witness" ? rules.minSystemDiskGiB : rules.minOnlyDiskGiB;
  if (size < smallest) return `install.device ${device} has ${size} GiB, at least ${smallest} GiB are needed`;
  if (beside && disks[data]! < rules.minDataDiskGiB) {
    return `install.data_disk ${data} has ${disks[data]} GiB, at least ${rules.minDataDiskGiB} GiB are needed`;
  }
  return undefined;
}

function networkProblem(
  network: Network | undefined,
  config: HarvesterConfig,
  target: InstallTarget,
): string | undefined {
  if (network === undefined) return "no management interface is configured";
  const interfaces = network.interfaces ?? [];
  if (interfaces.length === 0) return "the management interface lists no interface";
  if (network.method !== "dhcp" && network.method !== "static")
    return "the management interface's method is neither dhcp nor static";
  if (network.method === "static" && !config.os?.dns_nameservers?.length)
    return "a static address needs os.dns_nameservers";
  const missing = interfaces.map((each) => interfaceProblem(each, target)).find((problem) => problem !== undefined);
  if (missing !== undefined) return missing;
  if ((network.vlan_id ?? 0) > 4094) return `VLAN ${network.vlan_id} is out of range`;
  if (network.method === "static") return staticProblem(network);
  return network.default_route === false ? "the management interface has no default route" : undefined;
}

function interfaceProblem(
  { hw_addr: mac, name }: { hw_addr?: string; name?: string },
  { hardware, interfaceNames }: InstallTarget,
): string | undefined {
  if (mac !== undefined) {
    const exists = hardware.nics.some((nic) => nic.mac.toLowerCase() === mac.toLowerCase());
    return exists ? undefined : `no interface has the address ${mac}`;
  }
  if (!name) return "an interface has neither a name nor an address";
  return interfaceNames.includes(name) ? undefined : `the interface ${name} does not exist`;
}

function staticProblem({ ip, subnet_mask, gateway, mtu = 0 }: Network): string | undefined {
  for (const [field, value] of Object.entries({ ip, subnet_mask, gateway }))
    if (!IPV4.test(value ?? "")) return `a static management interface needs ${field} as an IPv4 address`;
  return mtu !== 0 && (mtu < 576 || mtu > 9000) ? `MTU ${mtu} is out of range` : undefined;
}

function roleProblem(role: string | undefined, known: boolean): string | undefined {
  if (!known || role === undefined || role === "") return undefined;
  return ["default", "management", "worker", "witness"].includes(role) ? undefined : `install.role ${role} is unknown`;
}
