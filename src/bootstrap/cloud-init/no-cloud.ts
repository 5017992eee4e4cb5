/**
 * What an image with cloud-init reads, as the datasource NoCloud reads it from a file system labelled `cidata`. Pure: knows no clock, no
 * network and no Kubernetes object.
 */
import { yaml } from "../installation/cloud-config.ts";
import type { SystemSettings } from "../installation/installation.ts";
import { netplan } from "../installation/netplan.ts";
import { checkedSettings, type Image, userData } from "./user-data.ts";

export interface NoCloudFiles {
  "user-data": string;
  "meta-data": string;
  "network-config": string;
}

/** The three files. Throws `Fault` (`Invalid`) that names each field cloud-init can't be given. */
export function noCloud(value: SystemSettings, image: Image): NoCloudFiles {
  const settings = checkedSettings(value, image);
  return {
    "user-data": userData(settings, image.packageManager),
    "meta-data": yaml({ "instance-id": image.instanceId, "local-hostname": settings.hostname }),
    "network-config": yaml(netplan(settings.network, { rename: true })),
  };
}
