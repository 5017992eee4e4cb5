import { useSignal } from "@preact/signals";
import { signIn, startSession } from "../api.ts";
import { place } from "../router.ts";

/** Sign-in by a token, a kubeconfig or OIDC. What is typed is sent to the console alone, and kept nowhere in the browser. */
export function SignInPage() {
  const refusal = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const enter = async (form: HTMLFormElement): Promise<void> => {
    const text = String(new FormData(form).get("credentials") ?? "").trim();
    if (text === "") return;
    isBusy.value = true;
    refusal.value = undefined;
    const isKubeconfig = /^\s*[{a-zA-Z]+[\s\S]*(clusters|contexts|users)/.test(text);
    await startSession(isKubeconfig ? { kubeconfig: text } : { token: text }).catch((error: Error) => {
      refusal.value = error.message;
    });
    isBusy.value = false;
  };
  const { path } = place.value;
  return (
    <main class="sign-in" tabIndex={-1}>
      <h1>Slipway</h1>
      {signIn.value.oidc ? (
        <p>
          <a class="button primary" href={`/console/oidc?return=${encodeURIComponent(path)}`}>
            Sign in with OpenID Connect
          </a>
        </p>
      ) : null}
      {signIn.value.token ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void enter(event.currentTarget);
          }}
        >
          <label>
            Token, or a kubeconfig with one
            <textarea name="credentials" rows={6} autoComplete="off" spellcheck={false} required />
          </label>
          <p class="dim">
            You act with your own rights: the Kubernetes API decides. A token: <code>kubectl create token NAME</code>
          </p>
          {refusal.value === undefined ? null : (
            <p role="alert" class="refusal">
              {refusal.value}
            </p>
          )}
          <button type="submit" class="primary" disabled={isBusy.value}>
            Sign in
          </button>
        </form>
      ) : null}
    </main>
  );
}
