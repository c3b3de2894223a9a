import { defaultDisk, defaultReliability } from '../market/rental-defaults.ts'
import type { Keeping } from './spec.ts'

/** The defaults where `berth.yaml` says nothing. */

/** The disk in GB. */
export const usualSetup = { image: 'pytorch/pytorch', disk: defaultDisk }

/** The least that a machine must be, as in the usual search for offers; the reliability in percent. */
export const usualMachine = { verified: true, reliability: defaultReliability * 100 }

/** The number of tries, and the seconds for each. */
export const usualAttempts = { attempts: 5, deadline: 1200 }

/** Seconds for which the machine of a successful run is kept, once the user wants it kept for the next run. */
export const usualKeep = 1200

/** The machine of a failed run: a reminder after a day. */
export const usualKeepingFailed: Keeping = { seconds: 86_400, destroys: false }

/** Seconds until the first reminder of a stopped machine at the latest, and between two of them. */
export const remindsWithin = 86_400

/** Seconds after the reminder for which the highest cost pays for the disk of a machine that isn't destroyed then. */
export const paidAfterReminder = 2 * 86_400
