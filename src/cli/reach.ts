import { asFault, Fault, isFault, type Log } from "@slipway/base";
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

/** As `reach`, for a process that goes on trying: a cluster that does not answer yet is a warning. */
export async function reachSoon(
  transport: Transport,
  server: string,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  try {
    await reach(transport, server, signal);
  } catch (error) {
    if (!isFault(error, "Unavailable")) throw error;
    log.warn({ error: error.advice }, "the cluster does not answer yet");
  }
}
