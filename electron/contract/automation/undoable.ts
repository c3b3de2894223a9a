import * as v from 'valibot'

/** Seconds in which an action on an instance can be undone. */
export const secondsToUndo = 5

/** Actions that lose nothing: they need no confirmation, are sent after a delay and can be undone until then. */
export const UndoableAction = v.picklist(['stop', 'start', 'reboot'])
export type UndoableAction = v.InferOutput<typeof UndoableAction>

/** An action on an instance that is sent at `sendAt`, unless the user undoes it. */
export interface UndoableView {
  action: UndoableAction
  /** Epoch milliseconds of this machine. */
  sendAt: number
}
