/** What a host is installed by, as `spec.customDeploy.method` names it: its profile, its disk and its network, or a script of the user's own. */
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { addressOf } from "../../bootstrap/installation/addresses.ts";
import { webUrl } from "../../bootstrap/installation/fields.ts";
import { installerBoot } from "../../bootstrap/installer-boot.ts";
import { deployMethod, type Profile, readProfile, type WrittenProfile } from "../../bootstrap/profile.ts";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import type { InstallOffer, InstallUrls } from "../../netboot/http/installers.ts";
import type { SecretTexts } from "./config-drive.ts";
import { hostSecret, secretTexts } from "./host-secrets.ts";
import { installerNetwork } from "./installer-network.ts";
import { rootDevice } from "./root-device.ts";

/** Writes what a host is given, once the addresses of the installation are known. Throws `Fault` (`Invalid`) for what can't be installed. */
export type InstallWriter = (urls: InstallUrls) => InstallOffer;

/** The method of `spec.customDeploy` by which a script of the user's own installs the host, and where its Secret says what that is. */
export const IPXE = "ipxe";
export const SCRIPT_URL_KEY = "scriptURL";
/** Of the Secret of `spec.userData`: where cloud-init in the installed system asks for its data. */
export const SEED_URL_KEY = "seedURL";

const SCRIPT = "script.ipxe";
const NETWORK_KEYS = ["networkData", "value"] as const;

/** Reads what the host is installed by. Rejects with a `Fault` that names the field, or the key of the Secret or ConfigMap, and holds no value. */
export async function installerOf(host: BareMetalHost, machine: Host, client: Client): Promise<InstallWriter> {
  const { installer, profile: name } = deployMethod(host.spec.customDeploy?.method ?? "");
  if (name === undefined) return writerOfScript(await hostSecret(host, "userData", client));
  const seedUrl = await seedOf(host, installer, client);
  const { texts, source } = await profileTexts(name, host, client);
  const profile = readProfile(installer, texts, source);
  if (profile.installer === "ipxe") return scriptAt(profile.script, profile.report, seedUrl);
  return writerOf(profile, host, machine, { network: await networkOf(host, machine, client), seedUrl });
}

function writerOf(
  profile: WrittenProfile,
  { metadata, spec }: BareMetalHost,
  { inventory }: Host,
  { network, seedUrl }: { network: ReturnType<typeof installerNetwork>; seedUrl: string | undefined },
): InstallWriter {
  if (inventory === undefined) throw new Fault("Conflict", metadata.name, "its agent has not reported its disks");
  const { architecture, firmware, disks } = inventory;
  const { path: disk } = rootDevice(disks, spec.rootDeviceHints);
  const host = { hostname: metadata.name, architecture, firmware: firmware.kind, disk, network };
  return ({ folder, succeeded, failed }) => {
    const { kernel, initrd, commandLine, files } = installerBoot(
      profile,
      { ...host, report: { succeeded, failed }, ...(seedUrl !== undefined && { seedUrl }) },
      folder,
    );
    return {
      start: { is: "kernel", kernel, initrd, commandLine },
      files,
      reports: true,
      ...(network.method === "static" && { address: addressOf(network).address }),
    };
  };
}

/** By the Secret of `spec.userData`: `script`, or `scriptURL`; `report` where it reports its end. */
function writerOfScript(texts: SecretTexts | undefined): InstallWriter {
  const on = "spec.userData";
  const remedy = "name a Secret with the key script or scriptURL";
  if (texts === undefined) throw new Fault("MissingInput", on, "the method ipxe needs a script", { remedy });
  const { script, [SCRIPT_URL_KEY]: url, report = "false" } = texts;
  if (!/^(true|false)\s*$/.test(report)) throw new Fault("Invalid", on, "key report: must be true or false");
  const reports = report.trim() === "true";
  if ((script === undefined) === (url === undefined))
    throw new Fault("Invalid", on, "the Secret must have one of the keys script and scriptURL", { remedy });
  if (url !== undefined) {
    if (!/^https?:\/\/[\x21-\x7e]+$/.test(url.trim()) || !URL.canParse(url.trim()))
      throw new Fault("Invalid", on, "key scriptURL: must be a URL that starts with http:// or https://");
    return scriptAt(url.trim(), reports);
  }
  if (!script!.startsWith("#!ipxe"))
    throw new Fault("Invalid", on, "key script: must begin with #!ipxe, or iPXE does not take it for a script");
  return (urls) => ({ ...scriptOffer(urls.folder + SCRIPT, reports, urls), files: { [SCRIPT]: script! } });
}

function scriptAt(url: string, reports: boolean, seedUrl?: string): InstallWriter {
  return (urls) => scriptOffer(url, reports, urls, seedUrl);
}

function scriptOffer(
  url: string,
  reports: boolean,
  { succeeded, failed }: InstallUrls,
  seedUrl?: string,
): InstallOffer {
  const settings = {
    ...(reports && { "slipway-succeeded": succeeded, "slipway-failed": failed }),
    ...(seedUrl !== undefined && { "slipway-seed": seedUrl }),
  };
  return { start: { is: "script", url, settings }, files: {}, reports };
}

/**
 * Where the installed system asks for its data, as the Secret of `spec.userData` says. What a profile has no place for is refused: it would
 * have no effect.
 */
async function seedOf(
  host: BareMetalHost,
  installer: Profile["installer"],
  client: Client,
): Promise<string | undefined> {
  const alone = (field: string, remedy: string): Fault =>
    new Fault("Invalid", `spec.${field}`, `the installer ${installer} is given its profile alone`, { remedy });
  if (host.spec.metaData?.name !== undefined)
    throw alone("metaData", "put it into the profile, and take the field out");
  const texts = await hostSecret(host, "userData", client);
  if (texts === undefined) return undefined;
  const url = texts[SEED_URL_KEY]?.trim();
  if (url === undefined)
    throw alone("userData", `put it into the profile, as commands, or name a Secret with the key ${SEED_URL_KEY}`);
  if (!webUrl.safeParse(url).success || !url.endsWith("/"))
    throw new Fault(
      "Invalid",
      "spec.userData",
      `key ${SEED_URL_KEY}: must be a URL of http or https that ends with a slash`,
    );
  return url;
}

/** The Secret or the ConfigMap of that name beside the host. */
async function profileTexts(
  name: string,
  { metadata: { namespace } }: BareMetalHost,
  client: Client,
): Promise<{ texts: SecretTexts; source: string }> {
  const ref = { name, ...(namespace && { namespace }) };
  const [secret, map] = await Promise.all([client.find(Secret, ref), client.find(ConfigMap, ref)]);
  const on = "spec.customDeploy.method";
  if (secret !== undefined && map !== undefined)
    throw new Fault("Invalid", on, `there is a Secret and a ConfigMap ${namespace}/${name}`, {
      remedy: "delete one of them",
    });
  if (secret !== undefined) return { texts: secretTexts(secret), source: `Secret ${namespace}/${name}` };
  if (map !== undefined) return { texts: map.data ?? {}, source: `ConfigMap ${namespace}/${name}` };
  throw new Fault("MissingInput", on, `there is neither a Secret nor a ConfigMap ${namespace}/${name}`, {
    remedy: "create it with the key profile",
  });
}

async function networkOf(host: BareMetalHost, { mac }: Host, client: Client) {
  const texts = await hostSecret(host, "networkData", client);
  const key = NETWORK_KEYS.find((each) => texts?.[each] !== undefined);
  if (texts !== undefined && key === undefined)
    throw new Fault("Invalid", "spec.networkData", "the Secret has neither the key networkData nor the key value");
  return installerNetwork(key === undefined ? undefined : texts![key], host.spec.bootMACAddress ?? mac);
}
