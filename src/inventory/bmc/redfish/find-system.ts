import { Fault, isFault } from "@slipway/base";
import { linkAt, linksAt, listed, textAt, typeOf } from "./body.ts";
import type { RedfishConnection } from "./connection.ts";
import { ROOT } from "./session.ts";

/**
 * The path of the machine: the one that the address names, else the only one that the BMC has. Rejects with `NotFound` where there is
 * none, and with `Invalid` where there are several and none is named, or where the path leads to something else.
 */
export async function findSystem(
  connection: RedfishConnection,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (named === undefined) return await onlySystem(connection, signal);
  const found = await connection.get(named, signal).catch((error: unknown) => {
    if (!isFault(error, "NotFound")) throw error;
    throw new Fault("NotFound", connection.origin, `the BMC has no machine at ${named}`, {
      remedy: "correct the path in the BMC's address",
      cause: error,
    });
  });
  const type = typeOf(found.body);
  if (type === undefined || type === "ComputerSystem") return named;
  throw new Fault("Invalid", connection.origin, `${named} is no machine but a ${type.slice(0, 64)}`, {
    remedy: `name a path below ${ROOT}Systems in the BMC's address`,
  });
}

async function onlySystem(connection: RedfishConnection, signal: AbortSignal): Promise<string> {
  const root = await connection.get(ROOT, signal);
  const collection = linkAt(root.body, "Systems");
  if (collection === undefined) throw new Fault("NotFound", connection.origin, "the BMC shows no machines");
  const systems = linksAt((await connection.get(connection.pathOf(collection), signal)).body, "Members");
  const [only] = systems;
  if (only === undefined) throw new Fault("NotFound", connection.origin, "the BMC has no machine");
  if (systems.length === 1) return connection.pathOf(only);
  throw new Fault(
    "Invalid",
    connection.origin,
    `the BMC has ${systems.length} machines, and the address names none of them`,
    { remedy: `add one of these paths to the BMC's address: ${listed(systems)}` },
  );
}

/** Throws unless the machine is the expected one: after new cabling, or with a moved address, a BMC may be another machine's. */
export function expectSystem(on: string, body: unknown, expected: string | undefined): void {
  const uuid = textAt(body, "UUID")?.toLowerCase();
  if (expected === undefined || uuid === undefined || uuid === expected.toLowerCase()) return;
  throw new Fault(
    "Conflict",
    on,
    `it is the BMC of another machine (UUID ${uuid.slice(0, 64)}, expected ${expected})`,
    {
      remedy: "correct the BMC's address; the machine behind it gets no orders",
    },
  );
}
