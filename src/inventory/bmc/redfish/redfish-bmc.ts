/**
 * The port `Bmc` over Redfish (DSP0266). `connection.ts` is one BMC with its session, shared by the machines behind it; `power.ts`,
 * `boot.ts` and `virtual-media.ts` know how BMCs differ and give no order without reading back; `change.ts` knows how they take a PATCH.
 * What a BMC answers is sure in nothing: it is read by `body.ts` only.
 */
import type { Clock } from "@slipway/base";
import type { Bmc, BmcCall, PowerAction } from "../bmc.ts";
import { type Span, within } from "../effect.ts";
import { bootFrom } from "./boot.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { expectSystem, findSystem } from "./find-system.ts";
import { firmwareSettingsOf } from "./firmware-settings.ts";
import { identityOf } from "./identity.ts";
import { order, powerOf } from "./power.ts";
import { ejectMedia, insertMedia } from "./virtual-media.ts";

export interface RedfishBmcOptions {
  connection: RedfishConnection;
  /** Path of the machine; undefined: the only one. */
  system?: string;
  /** UUID of the machine, where it is known. */
  uuid?: string;
  clock: Clock;
  /** Gives the connection back. */
  release(): Promise<void>;
}

const READ_MS = 120_000;
const WRITE_MS = 120_000;
const SOFT_OFF_MS = 600_000;
/** A BMC fetches the image, or its beginning, before it says that it is in. */
const MEDIA_MS = 300_000;

/** One machine behind a Redfish service, as the port `Bmc`. */
export function redfishBmc({ connection, system, uuid, clock, release }: RedfishBmcOptions): Bmc {
  const on = connection.origin;
  let path: string | undefined;
  /** The machine as it is now, which is the expected one. */
  const look = async (signal: AbortSignal): Promise<Resource> => {
    path ??= await findSystem(connection, system, signal);
    const found = await connection.get(path, signal);
    expectSystem(on, found.body, uuid);
    return found;
  };
  const read = async <T>(call: BmcCall, use: (found: Resource, span: Span) => Promise<T>): Promise<T> =>
    await within({ clock, call, defaultMs: READ_MS, on }, async (span) => await use(await look(span.signal), span));
  const power = async (action: Exclude<PowerAction, "restart">, call: BmcCall): Promise<void> => {
    const defaultMs = action === "soft-off" ? SOFT_OFF_MS : WRITE_MS;
    await within({ clock, call, defaultMs, on }, (span) => order(connection, look, action, span));
  };
  return {
    readPower: (call = {}) => read(call, async ({ body }) => powerOf(on, body)),
    async setPower(action, call = {}) {
      if (action !== "restart") return await power(action, call);
      await power("off", call);
      await power("on", call);
    },
    bootFrom: (device, choice, call = {}) =>
      within({ clock, call, defaultMs: WRITE_MS, on }, (span) =>
        bootFrom(connection, look, { device, ...choice }, span),
      ),
    insertMedia: (url, call = {}) =>
      within({ clock, call, defaultMs: MEDIA_MS, on }, async (span) =>
        insertMedia(connection, await look(span.signal), url, span),
      ),
    ejectMedia: (call = {}) =>
      within({ clock, call, defaultMs: MEDIA_MS, on }, async (span) =>
        ejectMedia(connection, await look(span.signal), span),
      ),
    identity: (call = {}) => read(call, (found, { signal }) => identityOf(connection, found, signal)),
    firmwareSettings: (call = {}) => read(call, (found, { signal }) => firmwareSettingsOf(connection, found, signal)),
    close: release,
  };
}
