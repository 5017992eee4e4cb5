/** What a machine is given for a deployment: an installer with its files, or an image. Pure. */
import { Fault, netmask, tryParseIp } from "@slipway/base";
import { addressOf } from "../../bootstrap/installation/addresses.ts";
import type { Network } from "../../bootstrap/installation/installation.ts";
import { includedSeed } from "../../bootstrap/installation/seed.ts";
import type { InstalledHost } from "../../bootstrap/installed-host.ts";
import { installerBoot } from "../../bootstrap/installer-boot.ts";
import { PROFILE_KEY, readProfile, type WrittenProfile } from "../../bootstrap/profile.ts";
import { rootDevice } from "../../inventory/hosts/root-device.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import type { InstallOffer, InstallUrls } from "../../netboot/http/installers.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";
import { type BootConfig, isInstaller, typeOf } from "../files/boot-config.ts";
import { type Deployment, type HostConfig, inherited } from "../files/deployment.ts";
import { isSaid } from "../files/texts.ts";
import type { KeptDeployment } from "./state.ts";

/** What surrounds a deployment. */
export interface Surroundings {
  globalConfig: HostConfig;
  boot: BootConfig;
  /** Where machines reach netboot: `http://10.20.0.1:8080`. */
  url: string;
  /** Names of the images whose files are served. */
  images: readonly string[];
  /** A public key that is let in beside the deployment's own. */
  ownKey?: string;
}

/** A deployment, and for whom it is. */
type Wanted = Pick<KeptDeployment, "deployment" | "claim">;

export type Writer = (urls: InstallUrls) => InstallOffer;

/** What a deployment of an installer is given on this machine. Throws a `Fault` (`Invalid`, `Conflict`) that names the field. */
export function installOf({ deployment, claim }: Wanted, host: Host, around: Surroundings): Writer {
  const { boot } = around;
  const type = typeOf(boot);
  const seed = claim && { seedUrl: claim.seedUrl };
  if (type === "default") return plainBoot(around, seed?.seedUrl);
  if (!isInstaller(type)) throw unsupported(type, deployment.mac);
  const config = inherited(deployment.config, around.globalConfig);
  const on = `deployment ${deployment.mac}`;
  const profile = readProfile(
    type,
    { [PROFILE_KEY]: JSON.stringify(profileOf(config, around, on)) },
    on,
  ) as WrittenProfile;
  const installed = { ...installedOf(config, host, deployment.mac), ...seed };
  // Wrong values are found now, and not when the machine asks.
  installerBoot(profile, installed, `${around.url}/`);
  const { network } = installed;
  return ({ folder, succeeded, failed }) => {
    const { kernel, initrd, commandLine, files } = installerBoot(
      profile,
      { ...installed, report: { succeeded, failed } },
      folder,
    );
    const address = network.method === "static" && { address: addressOf(network).address };
    return { start: { is: "kernel", kernel, initrd, commandLine }, files, reports: true, ...address };
  };
}

/** The order by which a deployment of BOOTy's is carried out. Throws as `installOf`. */
export function imageOrderOf(
  { deployment, claim }: Wanted,
  { globalConfig }: Pick<Surroundings, "globalConfig">,
): UserOrder {
  const config = inherited(deployment.config, globalConfig);
  const on = `deployment ${deployment.mac}`;
  const { bootyAction = "writeImage", sourceImage = "", compressed = false, destinationDevice } = config;
  if (bootyAction !== "writeImage" && bootyAction !== "")
    throw new Fault(
      "Unsupported",
      on,
      "config.bootyAction: images are written only; an image is not read from a machine",
    );
  if (!isUrl(sourceImage)) throw new Fault("Invalid", on, "config.sourceImage: must be the URL of an image");
  return {
    order: "write",
    image: sourceImage,
    ...(compressed && { format: "gz" as const }),
    ...(isSaid(destinationDevice) && { disk: destinationDevice }),
    ...(claim !== undefined && firstBoot(deployment, claim.seedUrl)),
  };
}

/** What the image's cloud-init reads: who the machine is, and where its data are. */
function firstBoot({ mac, config: { hostname = "" } }: Deployment, seedUrl: string) {
  const names = { "instance-id": mac, "local-hostname": hostname };
  return { label: "cidata" as const, data: { "meta-data": JSON.stringify(names), "user-data": includedSeed(seedUrl) } };
}

/** Fields that a deployment gives itself and that its type has no use for. */
export function withoutEffect({ config }: Pick<Deployment, "config">, boot: BootConfig): string[] {
  const type = typeOf(boot);
  const said = (Object.keys(config) as (keyof HostConfig)[]).filter(
    (field) => config[field] !== undefined && config[field] !== "" && config[field] !== false,
  );
  return said.filter((field) => {
    // It names the machine: in a log, in a parlay map.
    if (field === "address" || field === "hostname" || field === "adapter") return false;
    if (field === "destinationDevice") return type === "default";
    return BOOTY.includes(field)
      ? type !== "booty" || NOT_DONE.includes(field)
      : !isInstaller(type) || field === "sshkeypath";
  });
}

const NOT_DONE: readonly (keyof HostConfig)[] = [
  "sourceDevice",
  "destinationAddress",
  "growPartition",
  "lvmRootName",
  "shellOnFail",
];
const BOOTY: readonly (keyof HostConfig)[] = ["bootyAction", "compressed", "sourceImage", ...NOT_DONE];

/** Deployment types of Slipway's that are no boot configuration: by their names, what is there instead. */
const NOT_HERE: ReadonlyMap<string, string> = new Map([
  ["harvester", "Harvester is installed by BareMetalHosts and InstancePools of a cluster"],
  [
    "ipxe",
    "a script is started by a BareMetalHost of a cluster (customDeploy.method: ipxe); name kernel and initrd here",
  ],
  ["grub", "GRUB starts machines by a configuration of Slipway's own; name kernel and initrd here"],
]);

/** Why no machine can be installed by a boot configuration; undefined: it can. */
export function bootProblem(boot: BootConfig, images: readonly string[]): string | undefined {
  const type = typeOf(boot);
  if (type === "vsphere")
    return "configType: ESXi is not installed; use Slipway's ipxe method with a script of your own";
  const elsewhere = NOT_HERE.get(boot.configType ?? "");
  if (elsewhere !== undefined) return `configType: ${elsewhere}`;
  if (type === "autoinstall" && !isUrl(boot.isoPath))
    return "isoPath: must be the URL of the ISO, which the installer loads into memory";
  if (type !== "autoinstall" && isSaid(boot.isoPath) && !images.includes(boot.isoPrefix ?? ""))
    return "isoPath: an image is served once it is named under boot.images of netboot's settings, by what isoPrefix says";
  if (type !== "booty" && !(isSaid(boot.kernelPath) && isSaid(boot.initrdPath)))
    return "kernelPath, initrdPath: both are needed";
  return undefined;
}

function unsupported(type: string, mac: string): Fault {
  return new Fault("Unsupported", `deployment ${mac}`, `the type ${type} is no installer`);
}

/** Kernel, initrd and command line, and nothing else. */
function plainBoot({ boot, url, images }: Surroundings, seedUrl: string | undefined): Writer {
  const { kernelPath = "", initrdPath = "", cmdline = "" } = boot;
  return () => ({
    start: {
      is: "kernel",
      kernel: urlOf(kernelPath, url, images),
      initrd: urlOf(initrdPath, url, images),
      commandLine: [...words(cmdline), ...(seedUrl === undefined ? [] : [`ds=nocloud;s=${seedUrl}`])],
    },
    files: {},
    reports: false,
  });
}

const isUrl = (text = ""): boolean => /^https?:\/\/\S+$/.test(text);

/** A path of the original's is of its server; inside an image it begins with the image's prefix. */
export function urlOf(path: string, url: string, images: readonly string[]): string {
  if (isUrl(path)) return path;
  const name = path.replace(/^\/+/, "");
  return images.includes(name.split("/", 1)[0]!) ? `${url}/iso/${name}` : `${url}/${name}`;
}

function profileOf(config: HostConfig, { boot, url, images, ownKey }: Surroundings, on: string): object {
  const { kernelPath = "", initrdPath = "", cmdline = "" } = boot;
  const { username, password, sshkey, ntpserver, packages, lvmEnabled, swapDisabled } = config;
  const mirror = mirrorOf(config);
  const keys = [...(isSaid(sshkey) ? [publicKey(sshkey, on)] : []), ...(ownKey === undefined ? [] : [ownKey])];
  if (!isSaid(username)) throw new Fault("Invalid", on, "config.username: who logs in is needed");
  return {
    kernel: urlOf(kernelPath, url, images),
    initrd: urlOf(initrdPath, url, images),
    arguments: words(cmdline),
    user: { name: username, sshKeys: keys, ...(isSaid(password) && { passwordHash: password }) },
    ntpServers: words(ntpserver ?? ""),
    packages: words(packages ?? ""),
    layout: lvmEnabled ? "lvm" : "plain",
    swap: swapDisabled ? "none" : { mebibytes: SWAP_MEBIBYTES },
    ...(mirror !== undefined && { mirror }),
    ...(typeOf(boot) === "kickstart" && { release: KICKSTART_RELEASE }),
    ...(typeOf(boot) === "autoinstall" && { iso: boot.isoPath }),
  };
}

const SWAP_MEBIBYTES = 1024;
const KICKSTART_RELEASE = 9;

function mirrorOf({ repoaddress, mirrordir = "" }: HostConfig): string | undefined {
  if (!isSaid(repoaddress)) return undefined;
  const base = /^https?:\/\//.test(repoaddress) ? repoaddress : `http://${repoaddress}`;
  return `${base.replace(/\/+$/, "")}/${mirrordir.replace(/^\/+/, "")}`;
}

function publicKey(sshkey: string, on: string): string {
  const line = Buffer.from(sshkey, "base64").toString("utf8").trim();
  if (/^(ssh|ecdsa|sk)-/.test(line)) return line;
  throw new Fault("Invalid", on, "config.sshkey: must be base64 of the line in id_ed25519.pub");
}

function installedOf(config: HostConfig, host: Host, mac: string): InstalledHost {
  const { inventory } = host;
  if (inventory === undefined) throw new Fault("Conflict", host.name, "its agent has not reported its disks");
  const { destinationDevice } = config;
  const { path: disk } = rootDevice(
    inventory.disks,
    isSaid(destinationDevice) ? { deviceName: destinationDevice } : undefined,
  );
  return {
    hostname: isSaid(config.hostname) ? config.hostname.toLowerCase() : host.name,
    architecture: inventory.architecture,
    firmware: inventory.firmware.kind,
    disk,
    network: networkOf(config, mac),
  };
}

function networkOf({ address, subnet, gateway, nameserver }: HostConfig, mac: string): Network {
  if (!isSaid(address)) return { method: "dhcp", mac };
  const prefix = prefixOf(isSaid(subnet) ? subnet : "255.255.255.0");
  if (prefix === undefined)
    throw new Fault("Invalid", `deployment ${mac}`, "config.subnet: must be a mask such as 255.255.255.0");
  return {
    method: "static",
    mac,
    address: `${address}/${prefix}`,
    ...(isSaid(gateway) && { gateway }),
    nameServers: words(nameserver ?? ""),
  };
}

/** Of a mask. */
export function prefixOf(mask: string): number | undefined {
  const wanted = tryParseIp(mask);
  if (wanted?.family !== 4) return undefined;
  for (let prefix = 1; prefix <= 32; prefix++) if (netmask(prefix) === mask) return prefix;
  return undefined;
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
