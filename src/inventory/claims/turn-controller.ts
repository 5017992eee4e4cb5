import {
  type Context,
  type Controller,
  DONE,
  keyOf,
  type Outcome,
  refOf,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { hostAnnotations } from "../hosts/annotations.ts";
import { stateOf } from "../hosts/state.ts";
import { type Consumer, INSTALL_AGAIN, releaseHost } from "./claim.ts";
import { SET_ASIDE } from "./set-aside.ts";
import { isGivenBack, toInstallAgain } from "./turn.ts";

const RELEASE_MS = 30_000;
const CONDITION = "SetAside";

/** Carries out what is announced on hosts that machine providers use: gives them back, has them installed anew, and reports those that are set aside. */
export function turnController(system: string): Controller {
  return {
    name: "host-turn",
    system,
    owner: (ref) => `host/${keyOf(ref)}`,
    sources: [source({ resource: BareMetalHost, optional: true, when: concerns })],
    access: [
      { resource: BareMetalHost, verbs: ["patch"] },
      { resource: BareMetalHost, verbs: ["update"], subresource: "status" },
    ],
    async reconcile(ref, context): Promise<Outcome> {
      const host = context.cache.get(BareMetalHost, ref);
      if (host === undefined) return DONE;
      await reportSetAside(host, context);
      if (isGivenBack(host)) return giveUp(host, context);
      await installAnew(host, context);
      return DONE;
    },
  };
}

/** Most hosts are nobody's, or are used without a word of this. */
function concerns(host: BareMetalHost, before: BareMetalHost): boolean {
  const isSetAside = [host, before].some((each) => hostAnnotations(each)[SET_ASIDE] !== undefined);
  return isGivenBack(host) || hostAnnotations(host)[INSTALL_AGAIN] !== undefined || isSetAside;
}

async function giveUp(host: BareMetalHost, { client }: Context): Promise<Outcome> {
  const { apiVersion = "", kind = "", name = "", namespace, uid = "" } = host.spec.consumerRef ?? {};
  const consumer: Consumer = { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) };
  const waitsFor = await releaseHost(client, host, consumer);
  return waitsFor === undefined ? DONE : { againAfterMs: RELEASE_MS };
}

async function installAnew(host: BareMetalHost, { client }: Context): Promise<void> {
  const what = toInstallAgain(host);
  if (what === undefined || host.spec.consumerRef === undefined) return;
  const isAsked = host.spec.customDeploy !== undefined || host.spec.image !== undefined;
  const state = stateOf(host);
  const { resourceVersion } = host.metadata;
  if (isAsked && state === "provisioned") {
    const body = { metadata: { resourceVersion, annotations: { [INSTALL_AGAIN]: null } } };
    await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
  } else if (!isAsked && state === "available") {
    const body = { metadata: { resourceVersion }, spec: { ...what, online: true } };
    await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
  }
}

/** The annotation is what counts; condition and event are for people. */
async function reportSetAside(host: BareMetalHost, context: Context): Promise<void> {
  const reason = hostAnnotations(host)[SET_ASIDE];
  const held = host.status?.conditions?.find(({ type }) => type === CONDITION);
  const status = reason === undefined ? ("False" as const) : ("True" as const);
  if (reason === undefined ? held?.status !== "True" : held?.status === "True") return;
  const message = reason === undefined ? "" : `${reason}; take the annotation ${SET_ASIDE} off when it is mended`;
  const observedGeneration = host.metadata.generation ?? 0;
  const condition = {
    type: CONDITION,
    status,
    reason: reason === undefined ? "GivenAgain" : "InstallationsFailed",
    message,
    observedGeneration,
  };
  const conditions = [...setCondition(host.status?.conditions, condition, context.clock.now())];
  await new StatusRecord(context, BareMetalHost, host).write({ conditions });
  if (reason !== undefined) context.events.warning(host, "SetAside", reason);
  else context.events.normal(host, "GivenAgain", "it is given to those who ask for hosts");
}
