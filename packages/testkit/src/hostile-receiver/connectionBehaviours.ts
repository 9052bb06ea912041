/** Receivers that never send a response. */
import type { HostileScripts } from "./HostileBehaviour.ts"
import { answer, fails, honest, stalls, writes } from "./RawAnswers.ts"

const retried = "Count a failed attempt, and send nothing again by itself: the receiver may have read the request."

export const connectionBehaviours = {
  "never-accepts": {
    ...stalls("Listens, but its queue of connections is full."),
    unsent: true,
    deaf: true
  },
  "says-nothing": stalls("Reads the request and says nothing."),
  "reads-nothing": { ...stalls("Takes the connection and never reads from it."), reads: "nothing" },
  "closes-on-connect": {
    ...fails("Closes the connection as soon as it is there.", retried, () => {}),
    reads: "nothing",
    onConnection: (socket) => socket.end()
  },
  "resets-on-connect": {
    ...fails("Resets the connection as soon as it is there.", retried, () => {}),
    reads: "nothing",
    onConnection: (socket) => socket.resetAndDestroy()
  },
  "resets-before-body": {
    ...fails("Resets the connection when it has read the head.", retried, ({ socket }) => socket.resetAndDestroy()),
    reads: "head"
  },
  "resets-after-request": fails("Resets the connection when it has read the request.", retried, ({ socket }) => socket.resetAndDestroy()),
  "closes-after-request": fails("Closes the connection without an answer.", retried, ({ socket }) => socket.destroy()),
  "half-closes": fails("Says that it will send nothing, and keeps its ear open.", retried, ({ socket }) => socket.end()),
  "closes-in-head": fails("Closes in the middle of the head.", retried, ({ socket }) => socket.end("HTTP/1.1 200 OK\r\ncontent-le")),
  "resets-in-body": fails("Resets the connection in the middle of the body.", retried, ({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", () => setImmediate(() => socket.resetAndDestroy()))
  }),
  "answers-before-request": {
    does: "Answers as soon as the connection is there, and the request once more.",
    must: "Take the first answer for this request or for none, and the second for no other request.",
    outcome: "either",
    ends: "receiver",
    onConnection: (socket) => socket.write(answer("200 OK", [], "early")),
    onRequest: honest
  },
  "refuses-before-body": {
    ...fails("Answers 413 when it has read the head, and reads no further.", "Take the answer, and close the connection.", writes(answer("413 Too Large", ["connection: close"]))),
    reads: "head"
  },
  "accepts-before-body": {
    does: "Answers 200 when it has read the head, keeps the connection, and reads no further.",
    must: "Take the answer or fail, and write no other request behind one that is not written in full.",
    outcome: "either",
    next: "either",
    ends: "receiver",
    reads: "head",
    onRequest: writes(answer("200 OK"))
  }
} satisfies HostileScripts
