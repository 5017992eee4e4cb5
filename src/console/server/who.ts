import { Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";

export interface Who {
  user: string;
  groups: string[];
}

const ANONYMOUS = "system:anonymous";
const TIMEOUT_MS = 20_000;
const PATH = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/** Asks the API whom it takes the transport's credentials for. Rejects with `Unauthorized` when for nobody, `Unavailable` when it does not answer. */
export async function whoIs(
  transport: Transport,
  deadline: (ms: number) => { signal: AbortSignal; done(): void },
): Promise<Who> {
  const { signal, done } = deadline(TIMEOUT_MS);
  try {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const answer = await transport.request({ method: "POST", path: PATH, body, signal });
    if (answer.status === 401 || answer.status === 403) throw nobody();
    if (answer.status !== 201 && answer.status !== 200)
      throw new Fault("Unavailable", "Kubernetes API", `it answered ${answer.status} when it was asked who you are`);
    const { username, groups = [] } = (answer.body as Review).status?.userInfo ?? {};
    if (username === undefined || username === ANONYMOUS) throw nobody();
    return { user: username, groups };
  } finally {
    done();
  }
}

const nobody = (): Fault =>
  new Fault("Unauthorized", "Kubernetes API", "it does not accept these credentials", {
    remedy: "check that they belong to this cluster and have not expired",
  });

interface Review {
  status?: { userInfo?: { username?: string; groups?: string[] } };
}
