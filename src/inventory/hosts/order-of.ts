import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";
import type { OrderName } from "./step.ts";

type Write = Extract<UserOrder, { order: "write" }>;

/** What the agent is told to do for a step. Rejects with a `Fault` that names the field or the Secret that it can't be done for. */
export async function orderOf(
  name: OrderName,
  { host, inventory, client }: { host: BareMetalHost; inventory: Inventory | undefined; client: Client },
): Promise<UserOrder> {
  if (name === "wipe") return { order: "wipe", how: "metadata", disks: "all" };
  if (name !== "write") return { order: name };
  if (inventory === undefined) throw new Fault("Conflict", host.metadata.name, "its agent has not reported its disks");
  return writeOrder(host, inventory, client);
}

async function writeOrder(host: BareMetalHost, _inventory: Inventory, _client: Client): Promise<Write> {
  const { image } = host.spec;
  if (image === undefined) throw new Fault("Invalid", "spec.image", "nothing says what is to be installed");
  const { url, format, checksum, checksumType } = image;
  return {
    order: "write",
    image: url,
    ...((format === "raw" || format === "qcow2") && { format }),
    ...(checksum !== undefined && { checksum: `${checksumType ?? "md5"}:${checksum}` }),
  };
}
