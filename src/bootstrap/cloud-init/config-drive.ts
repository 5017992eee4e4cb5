/**
 * OpenStack's config drive: a file system labelled `config-2` that cloud-init, Ignition and cloudbase-init read
 * (docs.openstack.org/nova, "Config drives"). Metal3 gives its hosts the same.
 */
import { Fault } from "@slipway/base";
import type { SystemSettings } from "../installation/installation.ts";
import { networkData } from "./network-data.ts";
import { checkedSettings, type Image, userData } from "./user-data.ts";

/** Path of each file below the drive's root, and its content. */
export type DriveFiles = Readonly<Record<string, string>>;

export interface DriveContent {
  /** Needs `uuid`: it names the instance, and a new one makes cloud-init run anew. */
  metaData: Readonly<Record<string, unknown>>;
  /** cloud-config, Ignition, a script: it is not looked at. */
  userData?: string;
  /** `links`, `networks` and `services`. */
  networkData?: Readonly<Record<string, unknown>>;
}

const ROOT = "openstack/latest";

/** The drive's files. Throws `Fault` (`Invalid`) for metadata without an id, which cloud-init refuses. */
export function configDrive({ metaData, userData, networkData }: DriveContent): DriveFiles {
  if (typeof metaData.uuid !== "string" || metaData.uuid === "")
    throw new Fault("Invalid", "config drive", "metaData.uuid: must be a text that is not empty");
  return {
    [`${ROOT}/meta_data.json`]: json(metaData),
    ...(userData === undefined ? {} : { [`${ROOT}/user_data`]: userData }),
    ...(networkData === undefined ? {} : { [`${ROOT}/network_data.json`]: json(networkData) }),
  };
}

/** The drive for settings of ours. Throws `Fault` (`Invalid`) that names each field cloud-init can't be given. */
export function settingsDrive(value: SystemSettings, image: Image): DriveFiles {
  const settings = checkedSettings(value, image);
  const { hostname } = settings;
  return configDrive({
    metaData: { uuid: image.instanceId, name: hostname, hostname, "local-hostname": hostname },
    userData: userData(settings, image.packageManager),
    networkData: networkData(settings.network),
  });
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
