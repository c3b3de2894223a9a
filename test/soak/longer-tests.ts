import { runTool } from '../../build/run.ts'

/**
 * BERTH_HISTORIES generated histories of each automation against its plain model, by default many times as many as
 * `npm test` lives.
 */
export function soakHistories(): Promise<string> {
  return longer('unit', 'model.test.ts', 'BERTH_HISTORIES', '5000')
}

/** A rental, a failover and a job are each killed at BERTH_KILLS moments, and go on after each. */
export function soakKills(): Promise<string> {
  return longer('system', 'killed.test.ts', 'BERTH_KILLS', '200')
}

/** A folder of BERTH_FILES files is looked through over SFTP, and deleted. */
export function soakFolder(): Promise<string> {
  return longer('system', 'ssh/files/transfers.test.ts', 'BERTH_FILES', '100000')
}

/** A test of `npm test`, with more rounds. What went wrong is printed, with the seed that does it again. */
async function longer(project: string, file: string, variable: string, usual: string): Promise<string> {
  const rounds = process.env[variable] ?? usual
  const code = await runTool('vitest', ['run', '--project', project, file], {
    ...process.env,
    [variable]: rounds,
  })
  if (code !== 0) throw new Error('one ended otherwise than it should')
  return `${rounds} rounds`
}
