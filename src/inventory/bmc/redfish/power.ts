import { Fault } from "@slipway/base";
import type { PowerAction, PowerState } from "../bmc.ts";
import { carryOut, type Effect, type Span, untilSeen } from "../effect.ts";
import { at, listed, textAt, textsAt } from "./body.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { refusal } from "./refusal.ts";
import { taskIn } from "./tasks.ts";

/** ComputerSystem.PowerState. */
const STATES: Readonly<Record<string, PowerState>> = {
  On: "on",
  Off: "off",
  PoweringOn: "turning-on",
  PoweringOff: "turning-off",
  Paused: "on",
};

/** ResetTypes that do what is asked, the best first. */
const RESETS: Readonly<Record<Exclude<PowerAction, "restart">, readonly string[]>> = {
  on: ["On", "ForceOn"],
  off: ["ForceOff"],
  "soft-off": ["GracefulShutdown", "PushPowerButton"],
  reset: ["ForceRestart", "PowerCycle"],
};

const RESET = "#ComputerSystem.Reset";
const ALLOWED = "ResetType@Redfish.AllowableValues";

/** Reads the machine as it is now. */
export type Look = (signal: AbortSignal) => Promise<Resource>;

/** The state that the BMC reports. */
export function powerOf(on: string, body: unknown): PowerState {
  const state = textAt(body, "PowerState");
  if (state !== undefined && Object.hasOwn(STATES, state)) return STATES[state]!;
  throw new Fault("Unavailable", on, `the BMC does not know whether the machine is on (${String(state).slice(0, 64)})`);
}

/** Orders one reset and waits until it is seen. A machine that is as wanted gets no order. */
export async function order(
  connection: RedfishConnection,
  look: Look,
  action: Exclude<PowerAction, "restart">,
  span: Span,
): Promise<void> {
  const { origin } = connection;
  const before = await look(span.signal);
  const wanted: PowerState | undefined = action === "reset" ? undefined : action === "on" ? "on" : "off";
  const now = powerOf(origin, before.body);
  if (now === wanted) return;
  if (wanted === undefined) return await reset(connection, look, before, span);
  const effect: Effect = {
    on: origin,
    what: `power ${action}`,
    seen: async (signal) => powerOf(origin, (await look(signal)).body) === wanted,
  };
  const isUnderWay = (now === "turning-on" && action === "on") || (now === "turning-off" && action === "soft-off");
  if (isUnderWay) await untilSeen(span, effect);
  else await carryOut(span, effect, () => send(connection, before, action, span.signal));
}

/** Presses the reset button: once, for twice would be another reset. It is seen in `LastResetTime`, where the BMC keeps that. */
async function reset(connection: RedfishConnection, look: Look, before: Resource, span: Span): Promise<void> {
  const { origin } = connection;
  const last = textAt(before.body, "LastResetTime");
  const work = await send(connection, before, "reset", span.signal);
  if (last === undefined) return;
  const effect: Effect = {
    on: origin,
    what: "power reset",
    async seen(signal) {
      const { body } = await look(signal);
      return textAt(body, "LastResetTime") !== last && powerOf(origin, body) === "on";
    },
  };
  await untilSeen(span, effect, work);
}

async function send(
  connection: RedfishConnection,
  { path, body }: Resource,
  action: Exclude<PowerAction, "restart">,
  signal: AbortSignal,
) {
  const reset = at(body, "Actions", RESET);
  const target = textAt(reset, "target");
  if (target === undefined)
    throw new Fault("Unsupported", connection.origin, `the BMC can't switch the machine: ${path} has no Reset action`);
  const type = await resetType(connection, reset, action, signal);
  const answer = await connection.ask(
    { method: "POST", path: connection.pathOf(target), body: { ResetType: type } },
    signal,
  );
  if (answer.status >= 400) throw refusal(connection.origin, `reset ${type}`, answer);
  return taskIn(connection, answer);
}

/** The reset that this BMC offers for an action; where it says nothing, the usual one. */
async function resetType(
  connection: RedfishConnection,
  reset: unknown,
  action: Exclude<PowerAction, "restart">,
  signal: AbortSignal,
): Promise<string> {
  const candidates = RESETS[action];
  const offered = textsAt(reset, ALLOWED) ?? (await fromActionInfo(connection, reset, signal));
  const type = offered === undefined ? candidates[0] : candidates.find((one) => offered.includes(one));
  if (type !== undefined) return type;
  throw new Fault(
    "Unsupported",
    connection.origin,
    `the BMC offers no reset for ${action}, only ${listed(offered ?? [])}`,
  );
}

async function fromActionInfo(connection: RedfishConnection, reset: unknown, signal: AbortSignal) {
  const link = textAt(reset, "@Redfish.ActionInfo");
  if (link === undefined) return undefined;
  const { body } = await connection.get(connection.pathOf(link), signal);
  const parameters = at(body, "Parameters");
  const type = Array.isArray(parameters) ? parameters.find((one) => textAt(one, "Name") === "ResetType") : undefined;
  return textsAt(type, "AllowableValues");
}
