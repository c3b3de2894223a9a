import type { RunSnapshot } from '#core/runs/decide.ts'
import type { ProjectRun, Run } from '#core/runs/model.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

/** A stored run of a command, which runs by default. */
export const commandRun = (fields: Partial<Run> = {}): Run => ({
  id: 'x0000000000000001',
  instance: 7,
  name: 'training',
  command: 'python3 train.py',
  afterwards: 'nothing',
  watchdog: false,
  stuckAfter: 600,
  afterwardsIfStuck: false,
  step: 'running',
  createdAt: 1000,
  startedAt: 1000,
  program: 'x0000000000000001',
  begun: true,
  outputBytes: 0,
  droppedBytes: 0,
  lastLine: '',
  ...fields,
})

/** A stored run of a project, whose command runs by default. */
export function projectRun({
  project,
  ...fields
}: Omit<Partial<Run>, 'project'> & { project?: Partial<ProjectRun['project']> } = {}) {
  return {
    ...commandRun(),
    name: 'digits',
    command: 'x',
    afterwards: 'destroy' as const,
    stuckAfter: 0,
    createdAt: 0,
    startedAt: 100,
    rental: 'r0000000000000001',
    ...fields,
    project: {
      id: 'p0000000000000001',
      folder: '/home/me/digits',
      text: 'run: x',
      spec: { run: 'x' },
      limits: [],
      secretFiles: [],
      ...project,
    },
  } satisfies ProjectRun
}

/** Its machine. */
export const machine = (state: InstanceState) =>
  instanceView({ id: 7, state, ssh: { direct: { host: 'h', port: 22 } } } as Partial<InstanceView>)

/** What a poll shows of it, on a machine that runs. */
export const seen = (fields: Partial<RunSnapshot> = {}): RunSnapshot => ({
  awaited: undefined,
  instance: machine('running'),
  limit: undefined,
  now: 200,
  ...fields,
})
