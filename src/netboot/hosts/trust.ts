/** Which orders a host may get, and why: decided here for orders when they are given and when they are handed over, and for private files. Pure. */
import { Fault } from "@slipway/base";
import { fingerprint } from "../protocol/key.ts";
import type { OrderBody } from "../protocol/messages.ts";
import type { Host } from "./host.ts";
import { type Makers, makerDoubt } from "./maker-doubt.ts";
import type { NamespacePolicy } from "./namespace-policy.ts";
import { portsOf } from "./registration.ts";

/**
 * `discovered`: it is looked at and waits. `declared`: an administrator made a BareMetalHost with one of its cards. `approved`: a user
 * who may, said so of this host, or of just this boot's key. `bmc`: it runs behind the BMC that its boot was asked for at. `first-seen`: the settings trust all who register; for laboratories.
 */
export type Trust = "discovered" | "declared" | "approved" | "bmc" | "first-seen";

export interface Standing {
  trust: Trust;
  /** In words that can follow a colon. */
  because: string;
  /** Fingerprint of the key without which the host is not trusted. */
  key?: string;
  /** Endorsement key of the TPM without which the host is not trusted. */
  tpm?: string;
  /** What only an agent on the machine can prove, where the host would be trusted with it. */
  lacks?: "tpm" | "bmc";
}

/** What is trusted beside declarations and approvals. */
export type TrustPolicy = "approved" | "first-seen";

/** What the settings trust. `by-namespace`: as `approved`, but a namespace may say `first-seen` of its own hosts. */
export type TrustSetting = TrustPolicy | "by-namespace";

/** What the cluster says of a host. */
export interface Declaration {
  /** Exactly one BareMetalHost that discovery did not make has one of the host's cards. `twice`: more than one has, so none counts. */
  is: "declared" | "twice" | "none";
  /** The value of `slipway.dev/approved` on its BareMetalHost: `true`, the fingerprint of the key that it is approved for, or `tpm:` and its endorsement key. */
  approved?: string;
  /** Of each namespace that has a BareMetalHost with one of the host's cards, or with its name. Absent: none of them demands anything of its own. */
  policies?: readonly NamespacePolicy[];
}

/** Begins an approval for a TPM; the endorsement key follows, as `TpmIdentity` has it. */
const TPM = "tpm:";

export const UNDECLARED: Declaration = { is: "none" };

/** Of a host that the cluster has said nothing of since this process began. */
export const UNREAD: Standing = { trust: "discovered", because: "the cluster has not said yet what it knows of it" };

/** Whether an order changes what is on the machine, or may carry secrets. */
export function needsTrust({ order }: Pick<OrderBody, "order">): boolean {
  return NEEDS_TRUST[order];
}

const NEEDS_TRUST: Readonly<Record<OrderBody["order"], boolean>> = {
  inspect: false,
  reboot: false,
  poweroff: false,
  write: true,
  wipe: true,
  kexec: true,
};

/**
 * How far a host is trusted. A key that was approved is demanded, whatever else would hold: another boot, or another machine with its card and
 * address, is not what a user compared. So is a TPM: another machine has another, and none is no proof; where `makers` are named, one of them has to vouch for it. Where a relay names its ports, a card that turns up at another one has to be approved anew. A machine that has nothing to show but its own word is trusted for its key alone.
 */
export function standingOf(
  host: Pick<Host, "agentKey" | "approval" | "session" | "ports" | "tpm">,
  { is, approved }: Declaration,
  policy: TrustPolicy,
  makers?: Makers,
): Standing {
  const { approval, session } = host;
  const annotated = approved?.startsWith(TPM) === true ? { tpm: approved.slice(TPM.length) } : { key: approved };
  const keys = [annotated.key === "true" ? undefined : annotated.key, approval?.key].filter(
    (each) => each !== undefined,
  );
  if (keys.length > 0) return standingByKey(host, keys);
  const tpms = [annotated.tpm, approval?.tpm].filter((each) => each !== undefined);
  if (tpms.length > 0) return standingByTpm(host, tpms, makers);
  const because = doubtOf(host);
  const isBehindBmc = session?.isAsked === true;
  if (because !== undefined) return isBehindBmc ? BY_BMC : discovered(because);
  if (approved !== undefined || approval !== undefined) return { trust: "approved", because: "whatever key it has" };
  if (isBehindBmc) return BY_BMC;
  if (is === "declared") return { trust: "declared", because: "a BareMetalHost has its card" };
  if (is === "twice") return discovered("more than one BareMetalHost has its card, so none counts");
  if (policy === "first-seen" && session !== undefined)
    return { trust: "first-seen", because: "every machine that registers is trusted here" };
  return discovered("it is neither declared nor approved");
}

const BY_BMC: Standing = { trust: "bmc", because: "it has shown the value that its BMC was given for this boot" };

function standingByKey({ agentKey }: Pick<Host, "agentKey">, demanded: readonly string[]): Standing {
  const key = agentKey && fingerprint(agentKey);
  if (key !== undefined && demanded.includes(key)) return { trust: "approved", because: `for the key ${key}`, key };
  const wanted = demanded.map((each) => each.slice(0, 64)).join(" or ");
  return discovered(`it is approved for the key ${wanted}, and its agent has ${key ?? "none"}`);
}

function standingByTpm({ tpm }: Pick<Host, "tpm">, demanded: readonly string[], makers: Makers): Standing {
  const has = tpm?.endorsementKey;
  if (tpm !== undefined && has !== undefined && demanded.includes(has)) {
    const doubt = makerDoubt(tpm, makers);
    if (doubt !== undefined) return discovered(`it is approved with the TPM ${has}: ${doubt}`);
    const vouched = makers === undefined ? "" : `, for which ${tpm.certificate?.issuer} vouches`;
    return { trust: "approved", because: `by its TPM ${has}${vouched}`, tpm: has };
  }
  const wanted = demanded.map((each) => each.slice(0, 64)).join(" or ");
  return discovered(`it is approved with the TPM ${wanted}, and its agent has proven ${has ?? "none"}`);
}

/** Why a host without an approved key may be another machine than before; undefined: nothing speaks for that. */
function doubtOf({ session, ports }: Pick<Host, "session" | "ports">): string | undefined {
  if (session?.proof === "claim")
    return `at ${session.address} only its own word says which machine it is: approve its key`;
  const port = session && ports?.[session.card];
  if (port === undefined || port === session?.via) return undefined;
  return `it came through the relay's port ${port} before, and through ${session?.via ?? "none"} now: approve it anew`;
}

/**
 * What an approval changes of a host: `key` binds it to the boot that has that key; without one the TPM that it has proven, or, without one, the relay's port where the card is now is
 * approved with it. Throws a `Fault` (`Conflict`) for a key that its agent has not, and without a key for a machine that is known by its own word alone, and
 * for one whose TPM none of the `makers` vouches for.
 */
export function approvalOf(
  { name, agentKey, session, ports, tpm }: Pick<Host, "name" | "agentKey" | "session" | "ports" | "tpm">,
  key: string | undefined,
  { now, makers }: { now: number; makers?: Makers },
): Pick<Host, "approval" | "ports"> {
  const own = agentKey && fingerprint(agentKey);
  if (key !== undefined && key !== own) {
    const has = own === undefined ? "no key" : `the key ${own}`;
    throw new Fault("Conflict", name, `its agent has registered ${has}`, {
      remedy: "compare with the machine's own screen: if that shows another key, another machine answers in its place",
    });
  }
  if (key !== undefined) return { approval: { at: now, key } };
  // Better than cards, addresses and ports: only that TPM can show it again.
  const doubt = tpm && makerDoubt(tpm, makers);
  if (doubt !== undefined)
    throw new Fault("Conflict", name, doubt, {
      remedy: "put its maker's certificate into the file of tpmAuthorities, or approve this boot alone with --key",
    });
  if (tpm !== undefined) return { approval: { at: now, tpm: tpm.endorsementKey } };
  if (session?.proof === "claim")
    throw new Fault("Conflict", name, `at ${session.address} only its own word says which machine it is`, {
      remedy: "approve the key that its screen shows, with --key",
    });
  if (session === undefined) return { approval: { at: now } };
  const { [session.card]: _port, ...others } = ports ?? {};
  return { approval: { at: now }, ports: { ...others, ...portsOf(session) } };
}

/** What a host waits for, in words; undefined: it is at work. */
export function waitsFor({ order }: Pick<Host, "order">, { trust, because }: Standing): string | undefined {
  const open = order !== undefined && order.result === undefined ? order : undefined;
  if (open === undefined) return trust === "discovered" ? `to be declared or approved: ${because}` : "an order";
  if (trust === "discovered" && needsTrust(open.is))
    return `to be trusted with the order "${open.is.order}": ${because}`;
  return open.takenAt === undefined ? `its agent to take the order "${open.is.order}"` : undefined;
}

function discovered(because: string): Standing {
  return { trust: "discovered", because };
}
