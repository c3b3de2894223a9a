import * as v from 'valibot'

/** Seconds in which what was asked of an instance can be undone. */
export const secondsToUndo = 5

/** What is not sent at once: nothing is lost by it, so that it is not asked about but can be undone. */
export const UndoableAction = v.picklist(['stop', 'start', 'reboot'])
export type UndoableAction = v.InferOutput<typeof UndoableAction>

/** What an instance is about to be told, unless the user undoes it. */
export interface UndoableView {
  action: UndoableAction
  /** Epoch milliseconds of this machine. */
  sendAt: number
}
