import { useSignal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { useEffect } from "preact/hooks";
import type { Action } from "../../../views/actions/action.ts";
import { actionsOf, scaleOf, scaleTo } from "../../../views/actions/actions.ts";
import { type Allowed, mayI, send } from "../api.ts";
import { Dialog } from "./dialog.tsx";

/** Buttons for what can be done with an object, and the question before it is done. */
export function Actions({ object, members = [] }: { object: KubeObject; members?: readonly KubeObject[] }) {
  const asked = useSignal<Action | undefined>(undefined);
  const offers = actionsOf(object);
  const scale = scaleOf(object);
  if (offers.length === 0 && scale === undefined) return null;
  return (
    <div class="actions" role="group" aria-label={`Actions of ${object.metadata.name}`}>
      {scale === undefined ? null : (
        <Scale
          object={object}
          wanted={scale.wanted}
          members={members}
          onAsk={(action) => {
            asked.value = action;
          }}
        />
      )}
      {offers.map((action) => (
        <Offer
          key={action.id}
          action={action}
          onAsk={() => {
            asked.value = action;
          }}
        />
      ))}
      {asked.value === undefined ? null : (
        <Question
          key={asked.value.id}
          action={asked.value}
          onClose={() => {
            asked.value = undefined;
          }}
        />
      )}
    </div>
  );
}

/** Whether the user may do it; undefined: not answered yet. */
function useAllowed(action: Action | undefined): Allowed | undefined {
  const allowed = useSignal<Allowed | undefined>(undefined);
  const key = JSON.stringify(action?.access);
  useEffect(() => {
    let isCurrent = true;
    if (action !== undefined)
      void mayI(action.access).then((answer) => {
        if (isCurrent) allowed.value = answer;
      });
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return allowed.value;
}

/** A button that stays in the order of the keyboard when it is disabled, so that its reason can be read. */
function Offer({ action, onAsk }: { action: Action; onAsk(): void }) {
  const allowed = useAllowed(action);
  const reason = allowed?.allowed === false ? allowed.reason : action.refused;
  const isOff = allowed === undefined || reason !== undefined;
  const id = `why-${action.id}`;
  return (
    <span class="offer">
      <button
        type="button"
        class={action.destroys.length > 0 ? "danger" : undefined}
        aria-disabled={isOff}
        aria-describedby={reason === undefined ? undefined : id}
        title={reason ?? action.about}
        onClick={() => {
          if (!isOff) onAsk();
        }}
      >
        {action.label}
      </button>
      {reason === undefined ? null : (
        <span id={id} class="why">
          {reason}
        </span>
      )}
    </span>
  );
}

function Scale({
  object,
  wanted,
  members,
  onAsk,
}: {
  object: KubeObject;
  wanted: number;
  members: readonly KubeObject[];
  onAsk(action: Action): void;
}) {
  const count = useSignal(String(wanted));
  const action = scaleTo(object, count.value.trim() === "" ? Number.NaN : Number(count.value), members);
  const allowed = useAllowed(scaleTo(object, wanted, members));
  const reason = allowed?.allowed === false ? allowed.reason : undefined;
  const isOff = allowed === undefined || reason !== undefined || action === undefined;
  return (
    <form
      class="offer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOff && action !== undefined) onAsk(action);
      }}
    >
      <label>
        Members{" "}
        <input
          type="number"
          min={0}
          step={1}
          value={count.value}
          disabled={reason !== undefined}
          onInput={(event) => {
            count.value = event.currentTarget.value;
          }}
        />
      </label>
      <button
        type="submit"
        aria-disabled={isOff}
        title={reason}
        aria-describedby={reason === undefined ? undefined : "why-scale"}
      >
        Scale
      </button>
      {reason === undefined ? null : (
        <span id="why-scale" class="why">
          {reason}
        </span>
      )}
    </form>
  );
}

/** Shows what will be sent and what is lost; what destroys must be confirmed by the object's name. */
function Question({ action, onClose }: { action: Action; onClose(): void }) {
  const state = useSignal<"asking" | "sending" | "done">("asking");
  const refusal = useSignal<string | undefined>(undefined);
  const typed = useSignal("");
  const { name } = action.access;
  const mustType = action.destroys.length > 0;
  const isReady = state.value === "asking" && (!mustType || typed.value.trim() === name);
  const go = async (): Promise<void> => {
    state.value = "sending";
    refusal.value = undefined;
    await send(action.call).then(
      () => {
        state.value = "done";
      },
      (error: Error) => {
        refusal.value = error.message;
        state.value = "asking";
      },
    );
  };
  return (
    <Dialog title={`${action.label}: ${name}`} onClose={onClose}>
      <p>{action.about}</p>
      {mustType ? (
        <div class="lost">
          <p>What is lost:</p>
          <ul>
            {action.destroys.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </div>
      ) : null}
      <p>The same with kubectl:</p>
      <pre tabIndex={0} class="command">
        {action.kubectl}
      </pre>
      {refusal.value === undefined ? null : (
        <p role="alert" class="refusal">
          {refusal.value}
        </p>
      )}
      {state.value === "done" ? <p role="status">Done: the API has accepted it.</p> : null}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void go();
        }}
      >
        {mustType && state.value !== "done" ? (
          <label>
            Type <b>{name}</b> to confirm{" "}
            <input
              type="text"
              autoComplete="off"
              value={typed.value}
              onInput={(event) => {
                typed.value = event.currentTarget.value;
              }}
            />
          </label>
        ) : null}
        <div class="buttons">
          <button type="button" onClick={(event) => event.currentTarget.closest("dialog")?.close()}>
            {state.value === "done" ? "Close" : "Cancel"}
          </button>
          {state.value === "done" ? null : (
            <button type="submit" class={mustType ? "danger" : "primary"} disabled={!isReady}>
              {action.label}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
