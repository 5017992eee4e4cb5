import { Fault, type Http } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";
import { type DriveSecrets, hostConfigDrive } from "./config-drive.ts";
import { hasFirstBootData, hostSecret } from "./host-secrets.ts";
import { imageChecksum } from "./image-checksum.ts";
import { rootDevice } from "./root-device.ts";
import type { OrderName } from "./step.ts";

type Write = Extract<UserOrder, { order: "write" }>;

export interface OrderPorts {
  client: Client;
  /** To the servers that images' checksums are on. */
  http: Http;
}

/** The order that the agent gets for a step. Rejects with a `Fault` that names the field or the Secret that it can't be done for. */
export async function orderOf(
  name: OrderName,
  host: BareMetalHost,
  inventory: Inventory | undefined,
  ports: OrderPorts,
): Promise<UserOrder> {
  if (name === "wipe") return { order: "wipe", how: "metadata", disks: "all" };
  if (name !== "write") return { order: name };
  if (inventory === undefined) throw new Fault("Conflict", host.metadata.name, "its agent has not reported its disks");
  return writeOrder(host, inventory, ports);
}

async function writeOrder(host: BareMetalHost, { disks }: Inventory, { client, http }: OrderPorts): Promise<Write> {
  const { image, rootDeviceHints } = host.spec;
  if (image === undefined) throw new Fault("Invalid", "spec.image", "nothing says what is to be installed");
  // A path would be a file of this server.
  if (!/^https?:\/\//.test(image.url))
    throw new Fault("Invalid", "spec.image.url", "only http and https are fetched", {
      remedy: "put the image on a web server",
    });
  const { format = "raw" } = image;
  if (format !== "raw" && format !== "qcow2")
    throw new Fault("Invalid", "spec.image.format", `${format} is not written to disks by Slipway`, {
      remedy: "use raw or qcow2",
    });
  const data = hostConfigDrive(nameOf(host), await secretsOf(host, client));
  return {
    order: "write",
    image: image.url,
    checksum: await imageChecksum(image, http),
    disk: rootDevice(disks, rootDeviceHints).target,
    // What is compressed is unpacked; its first bytes say so, not the format.
    ...(format === "qcow2" && { format }),
    // Without it an image need not have a partition table, or the agent a key.
    ...(hasFirstBootData(host) && { data, label: "config-2" as const }),
  };
}

function nameOf({ metadata: { name, namespace = "", uid = "" } }: BareMetalHost) {
  return { name, namespace, uid };
}

async function secretsOf(host: BareMetalHost, client: Client): Promise<DriveSecrets> {
  const fields = ["userData", "metaData", "networkData"] as const;
  const read = await Promise.all(fields.map((field) => hostSecret(host, field, client)));
  return Object.fromEntries(fields.flatMap((field, i) => (read[i] === undefined ? [] : [[field, read[i]]])));
}
