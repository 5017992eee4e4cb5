import { isFault, isMac, type Mac, parseMac } from "@slipway/base";
import type { BmcIdentity } from "../bmc.ts";
import { linkAt, linksAt, textAt } from "./body.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { managersOf } from "./virtual-media.ts";

/** More cards than any machine has; each is a request to a slow BMC. */
const MOST_CARDS = 64;

/** What the BMC says of the machine. What it does not say is left out. */
export async function identityOf(
  connection: RedfishConnection,
  system: Resource,
  signal: AbortSignal,
): Promise<BmcIdentity> {
  const { body } = system;
  const [manager] = managersOf(system);
  const own = manager === undefined ? undefined : await unlessMissing(connection, manager, signal);
  return present({
    manufacturer: textAt(body, "Manufacturer"),
    model: textAt(body, "Model"),
    serial: textAt(body, "SerialNumber"),
    uuid: textAt(body, "UUID")?.toLowerCase(),
    macs: await macsOf(connection, system, signal),
    firmwareVersion: textAt(body, "BiosVersion"),
    bmcVersion: textAt(own?.body, "FirmwareVersion"),
    system: system.path,
  });
}

async function macsOf(connection: RedfishConnection, { body }: Resource, signal: AbortSignal): Promise<readonly Mac[]> {
  const collection = linkAt(body, "EthernetInterfaces");
  if (collection === undefined) return [];
  const members = linksAt((await unlessMissing(connection, collection, signal))?.body, "Members");
  const macs = new Set<Mac>();
  for (const member of members.slice(0, MOST_CARDS)) {
    const card = (await unlessMissing(connection, member, signal))?.body;
    // A permanent address is the card's; the other one may be an operating system's choice.
    const mac = [textAt(card, "PermanentMACAddress"), textAt(card, "MACAddress")].find(
      (one) => one !== undefined && isMac(one) && !/^(00[:-]?){6}$/.test(one),
    );
    if (mac !== undefined) macs.add(parseMac(mac));
  }
  return [...macs];
}

/** The resource of a link; undefined where it is not there: BMCs list what they do not have. */
export async function unlessMissing(connection: RedfishConnection, link: string, signal: AbortSignal) {
  try {
    return await connection.get(connection.pathOf(link), signal);
  } catch (error) {
    if (isFault(error, "NotFound", "Unsupported")) return undefined;
    throw error;
  }
}

function present(fields: { [K in keyof BmcIdentity]: BmcIdentity[K] | undefined }): BmcIdentity {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
