import { asFault, Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";

/**
 * One look before everything else: a wrong address or credential is reported at once, by the name that the user gave. Rejects with a `Fault`, or with
 * the signal's reason.
 */
export async function reach(transport: Transport, server: string, signal?: AbortSignal): Promise<void> {
  const remedy = "check the server and the credentials that --kubeconfig, --context and KUBECONFIG lead to";
  let status: number;
  try {
    ({ status } = await transport.request({ method: "GET", path: "/version", ...(signal && { signal }) }));
  } catch (cause) {
    signal?.throwIfAborted();
    const { code, message } = asFault(cause, "connection");
    throw new Fault(code === "LostAnswer" ? "Unavailable" : code, server, message, { remedy, cause });
  }
  if (status === 401)
    throw new Fault("Unauthorized", server, "the API server does not accept the credentials", { remedy });
}
