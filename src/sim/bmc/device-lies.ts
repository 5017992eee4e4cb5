import { Fault } from "@slipway/base";
import { nothing } from "../../bmc-service/answer.ts";
import { errorAnswer, message, refuse } from "../../bmc-service/messages.ts";
import { bodyOf, type Lie, MEDIA, pathOf, rewritten, SYSTEM } from "./lie.ts";

const RESET = /\/Actions\/ComputerSystem\.Reset$/;
const MEDIA_ACTION = /\/Actions\/VirtualMedia\.(Insert|Eject)Media$/;
const SETTINGS = /^(\/redfish\/v1\/Systems\/[^/]+)\/Settings$/;
const MODE = "BootSourceOverrideMode";
const ENABLED = "BootSourceOverrideEnabled";
const TARGET = "BootSourceOverrideTarget";
const LATE_MS = 45_000;

/** What is shown, and since when it is not so. */
interface LatePower {
  shown: unknown;
  since: number;
}

function bootIn(body: Record<string, unknown>): Record<string, unknown> {
  return (body.Boot ?? {}) as Record<string, unknown>;
}

/** What BMCs do with power, boot devices, virtual media and identity. */
export const DEVICE_LIES = {
  /** Says yes, and does nothing. */
  "ignores-power": async (request, next) => (RESET.test(pathOf(request)) ? nothing() : await next(request)),
  "ignores-boot": async (request, next) =>
    request.method === "PATCH" && SYSTEM.test(pathOf(request))
      ? await next({ ...request, method: "GET" })
      : await next(request),
  "ignores-media": async (request, next) => (MEDIA_ACTION.test(pathOf(request)) ? nothing() : await next(request)),

  /** Does not know whether the machine is on. */
  "power-unknown": async (request, next) => {
    const answer = await next(request);
    return SYSTEM.test(pathOf(request))
      ? rewritten(answer, (body) => Object.assign(body, { PowerState: null }))
      : answer;
  },

  /** Shows the power as it was: a change is seen three quarters of a minute late. */
  "power-late": async (request, next, { clock, memory }) => {
    const answer = await next(request);
    if (!SYSTEM.test(pathOf(request))) return answer;
    return rewritten(answer, (body) => {
      const now = clock.monotonic();
      const { shown, since } = (memory.get("power-late") ?? { shown: body.PowerState, since: now }) as LatePower;
      const changedAt = shown === body.PowerState ? now : since;
      const isShown = now - changedAt >= LATE_MS;
      memory.set("power-late", { shown: isShown ? body.PowerState : shown, since: isShown ? now : changedAt });
      if (!isShown) body.PowerState = shown;
    });
  },

  /** Is not reached for a while after it has switched the machine: it restarts with it. */
  "gone-after-reset": async (request, next, { clock, memory }) => {
    const backAt = (memory.get("gone-after-reset") ?? 0) as number;
    if (clock.monotonic() < backAt) throw new Fault("Unavailable", new URL(request.url).host, "connection refused");
    const answer = await next(request);
    if (RESET.test(pathOf(request))) memory.set("gone-after-reset", clock.monotonic() + LATE_MS);
    return answer;
  },

  /** Makes a boot device for one start the one of every start. */
  "boot-lasts": async (request, next) => {
    if (request.method !== "PATCH" || !SYSTEM.test(pathOf(request))) return await next(request);
    const body = bodyOf(request);
    const boot = bootIn(body);
    if (boot[ENABLED] !== "Once") return await next(request);
    return await next({ ...request, body: JSON.stringify({ ...body, Boot: { ...boot, [ENABLED]: "Continuous" } }) });
  },

  /** Shows the boot device that it was given, and has forgotten it when the machine starts, as some of Supermicro's do. */
  "boot-reverts": async (request, next) => {
    if (RESET.test(pathOf(request))) {
      const url = new URL(pathOf(request).replace(/\/Actions\/.*/, ""), request.url).href;
      await next({ ...request, method: "PATCH", url, body: JSON.stringify({ Boot: { [ENABLED]: "Disabled" } }) });
    }
    return await next(request);
  },

  /** Takes a boot device alone, and refuses all that comes with it, as HPE's DL160 does. */
  "refuses-extra-fields": async (request, next) => {
    const extra = Object.keys(bootIn(bodyOf(request))).find((name) => name !== ENABLED && name !== TARGET);
    const isBoot = request.method === "PATCH" && SYSTEM.test(pathOf(request));
    return isBoot && extra !== undefined ? refuse(400, "PropertyUnknown", extra) : await next(request);
  },

  /** Offers no network boot. */
  "no-pxe": async (request, next) => {
    const answer = await next(request);
    if (!SYSTEM.test(pathOf(request))) return answer;
    return rewritten(answer, (body) => {
      bootIn(body)["BootSourceOverrideTarget@Redfish.AllowableValues"] = ["None", "Hdd"];
    });
  },

  /** The override is kept in the settings resource, as iDRAC10 does. */
  "boot-in-settings": async (request, next) => {
    const path = pathOf(request);
    const [, system] = SETTINGS.exec(path) ?? [];
    if (system !== undefined) {
      const moved = { ...request, url: new URL(system, request.url).href };
      return rewritten(await next(moved), (body) => Object.assign(body, { "@odata.id": path }));
    }
    if (!SYSTEM.test(path)) return await next(request);
    if (request.method === "PATCH") return errorAnswer(400, [message("PropertyNotWritable", "Boot")]);
    return rewritten(await next(request), (body) => {
      const object = { "@odata.id": `${path}/Settings` };
      body["@Redfish.Settings"] = { SettingsObject: object, SupportedApplyTimes: ["OnReset"] };
    });
  },

  /** Refuses the mode, which can't be written, as some of HPE's do. */
  "refuses-mode": async (request, next) =>
    request.method === "PATCH" && Object.hasOwn(bootIn(bodyOf(request)), MODE)
      ? refuse(400, "PropertyNotWritable", MODE)
      : await next(request),

  /** Takes a change without the mode for one back to Legacy, as some of Supermicro's do. */
  "forgets-mode": async (request, next) => {
    if (request.method !== "PATCH" || !SYSTEM.test(pathOf(request))) return await next(request);
    const body = bodyOf(request);
    return await next({ ...request, body: JSON.stringify({ ...body, Boot: { [MODE]: "Legacy", ...bootIn(body) } }) });
  },

  /** Knows no actions of virtual media: it is changed by PATCH. */
  "media-by-patch": async (request, next) => {
    const path = pathOf(request);
    if (MEDIA_ACTION.test(path)) return refuse(404, "ResourceMissingAtURI", path);
    if (!MEDIA.test(path)) return await next(request);
    if (request.method !== "PATCH") return rewritten(await next(request), (body) => void delete body.Actions);
    const { Image: image } = bodyOf(request);
    const action = `${path}/Actions/VirtualMedia.${image === null ? "Eject" : "Insert"}Media`;
    const body = JSON.stringify(image === null ? {} : { Image: image });
    return await next({ ...request, method: "POST", url: new URL(action, request.url).href, body });
  },

  /** Demands a parameter that the schema leaves out. */
  "demands-transfer-protocol": async (request, next) =>
    /InsertMedia$/.test(pathOf(request)) && !Object.hasOwn(bodyOf(request), "TransferProtocolType")
      ? refuse(400, "ActionParameterMissing", "InsertMedia", "TransferProtocolType")
      : await next(request),

  /** Answers for another machine. */
  "wrong-uuid": async (request, next) => {
    const answer = await next(request);
    const UUID = "00000000-dead-4bad-8bad-000000000000";
    return SYSTEM.test(pathOf(request)) ? rewritten(answer, (body) => Object.assign(body, { UUID })) : answer;
  },
} satisfies Record<string, Lie>;
