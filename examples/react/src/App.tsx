import { useWaitroom } from "@waitroom/client/react";

/** What a visitor sees before the shop, in the shop's own words. */
export function App({ base, room }: { base: string; room: string }) {
  const { phase, ticket, away, problem, join, enter, leave, finish } = useWaitroom(room, { base });
  const minutes = ticket?.eta_s && Math.ceil(ticket.eta_s.likely / 60);
  return (
    <main>
      <h1>The shop</h1>
      {away && <p role="status">Reconnecting. Your place is kept.</p>}
      {phase === "unknown" && <p>One moment…</p>}
      {phase === "out" && <button onClick={() => join()}>Join the line</button>}
      {phase === "waiting" && (
        <>
          <p role="status">{ticket?.position ? `${ticket.position - 1} people ahead of you` : "You are in line"}</p>
          {minutes != null && <p>About {minutes} min</p>}
          <button onClick={() => leave()}>Leave the line</button>
        </>
      )}
      {phase === "called" && <button onClick={() => enter()}>It is your turn: go in</button>}
      {phase === "inside" && (
        <>
          <p role="status">Welcome. Send this pass along to your API:</p>
          <code>{ticket?.pass}</code>
          <button onClick={() => finish()}>I am done</button>
        </>
      )}
      {phase === "gone" && (
        <>
          <p role="status">Your place is gone: {problem?.body.reason}</p>
          <button onClick={() => join()}>Join again</button>
        </>
      )}
      {phase === "out" && problem && <p role="alert">{problem.body.detail}</p>}
    </main>
  );
}
