/** A consumer's turn with a host, from its claim to its end. What takes long is announced on the host, and `turnController` carries it out. */
import { Fault } from "@slipway/base";
import { type Client, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { type Consumer, GIVEN_BACK, INSTALL_AGAIN, type Install, isConsumedBy, NOTHING, UNCLAIMED } from "./claim.ts";
import { annotationsAfter, type Failure } from "./set-aside.ts";

/**
 * Gives the host back: what is installed is removed, and once the host is wiped and off it is nobody's. With `force` it is nobody's at once,
 * and offered when it is wiped. Nothing where it is another's. Rejects as the API does.
 */
export async function giveBack(
  client: Client,
  host: BareMetalHost,
  consumer: Consumer,
  { force = false, failure }: { force?: boolean; failure?: Failure | undefined } = {},
): Promise<void> {
  if (!isConsumedBy(host, consumer)) return;
  const { resourceVersion, annotations: held = {} } = host.metadata;
  if (held[GIVEN_BACK] === consumer.uid && !force) return;
  const told = held[GIVEN_BACK] === consumer.uid ? {} : annotationsAfter(host, failure);
  const body = force
    ? {
        metadata: { resourceVersion, ...UNCLAIMED, annotations: { ...UNCLAIMED.annotations, ...told } },
        spec: { ...NOTHING, consumerRef: null },
      }
    : {
        metadata: { resourceVersion, annotations: { [GIVEN_BACK]: consumer.uid, [INSTALL_AGAIN]: null, ...told } },
        spec: NOTHING,
      };
  await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
}

/** Has the host wiped, and then installed as it was. Rejects with `Conflict` where it is another's, or as the API does. */
export async function installAgain(client: Client, host: BareMetalHost, consumer: Consumer): Promise<void> {
  if (!isConsumedBy(host, consumer) || isGivenBack(host))
    throw new Fault("Conflict", `BareMetalHost/${host.metadata.name}`, `it is not ${consumer.kind}/${consumer.name}'s`);
  const { resourceVersion, annotations } = host.metadata;
  const { image, customDeploy, userData, networkData, metaData } = host.spec;
  // Nothing is to be installed: it is being wiped for the very same already.
  if (image === undefined && customDeploy === undefined && annotations?.[INSTALL_AGAIN] !== undefined) return;
  const what = JSON.stringify({ image, customDeploy, userData, networkData, metaData } satisfies Partial<Install>);
  const body = { metadata: { resourceVersion, annotations: { [INSTALL_AGAIN]: what } }, spec: NOTHING };
  await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
}

/** What a host that is being wiped is to install then; undefined: nothing. */
export function toInstallAgain({ metadata }: BareMetalHost): Partial<Install> | undefined {
  const text = metadata.annotations?.[INSTALL_AGAIN];
  if (text === undefined) return undefined;
  try {
    const { image, customDeploy, userData, networkData, metaData } = JSON.parse(text) as Partial<Install>;
    return { image, customDeploy, userData, networkData, metaData };
  } catch {
    return undefined;
  }
}

/** Whether its consumer has given it back, and it is not wiped yet. */
export function isGivenBack({ metadata, spec }: BareMetalHost): boolean {
  const by = metadata.annotations?.[GIVEN_BACK];
  return by !== undefined && by === spec.consumerRef?.uid;
}
