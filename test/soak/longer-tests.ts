import { runTool } from '#build/run.ts'

/**
 * Tests each automation against its model in BERTH_HISTORIES generated histories, by default many times as many as
 * `npm test`.
 */
export function soakHistories(): Promise<string> {
  return longer('model.test.ts', 'BERTH_HISTORIES', '5000')
}

/** Lets five hostile agents send BERTH_CALLS commands to a Berth that is killed, on a service that loses answers. */
export function soakAgents(): Promise<string> {
  return longer('core/ledger/hostile/', 'BERTH_CALLS', '10000')
}

/** Lets five sessions of the protocol's own client call at once over the socket, for BERTH_SESSION_SECONDS. */
export function soakSessions(): Promise<string> {
  return longer('cli/agents-at-once.test.ts', 'BERTH_SESSION_SECONDS', '60')
}

/** Kills Berth at BERTH_KILLS moments of a rental, one with retries, a job, a sweep and nodes, which must resume. */
export function soakKills(): Promise<string> {
  return longer('killed.test.ts', 'BERTH_KILLS', '200')
}

/** Lets projects run in BERTH_WORLDS worlds whose service lies, and compares its ledger with their plans. */
export function soakWorlds(): Promise<string> {
  return longer('core/runs/worlds/', 'BERTH_WORLDS', '2000')
}

/** Compares BERTH_PROJECTS random projects on a machine that waited with the same on a fresh one. */
export function soakProjects(): Promise<string> {
  return longer('core/nights/warm.test.ts', 'BERTH_PROJECTS', '100')
}

/**
 * Lets BERTH_SEEDS machines of a training job be outbid, crash or go offline, and times a handover of BERTH_HOURS_MB megabytes of
 * results, of which 200 have changed.
 */
export async function soakHours(): Promise<string> {
  process.env['BERTH_HOURS_CHANGED'] ??= '200'
  // A file may say nothing while its rounds last.
  process.env['BERTH_TEST_SILENCE'] ??= '3600'
  const handed = await longer('ssh/handed-over.test.ts', 'BERTH_HOURS_MB', '10240')
  return `${handed}, ${await longer('integration/hours/', 'BERTH_SEEDS', '300')}`
}

/** Sends the simulator BERTH_REQUESTS generated requests in each test that does so. */
export function soakRequests(): Promise<string> {
  return longer('integration/simulator/', 'BERTH_REQUESTS', '5000')
}

/** Lists and deletes a folder of BERTH_FILES files over SFTP. */
export function soakFolder(): Promise<string> {
  return longer('ssh/files/transfers.test.ts', 'BERTH_FILES', '100000')
}

/** Runs a test of `npm test` with more rounds. Prints failures with the seed to reproduce them. */
async function longer(file: string, variable: string, usual: string): Promise<string> {
  const rounds = process.env[variable] ?? usual
  const code = await runTool('vitest', ['run', file], { ...process.env, [variable]: rounds })
  if (code !== 0) throw new Error('one ended otherwise than it should')
  return `${rounds} rounds`
}
