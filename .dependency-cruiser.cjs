/** Who may know whom: docs/architecture.md says why. */
const entries = '^electron/(main|browser)\\.ts$'

/** What Berth needs from a computer, as interfaces: the rest of electron/platform is how this one has it. */
const interfaces = '^electron/platform/(platform|folders|tasks|clock-and-random)\\.ts$'

/** A rule that forbids modules of one place to import from others. */
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** From the top down: each may know those after it, and no others. */
const roomsOfCore = [
  'berth',
  'commands',
  'accounts',
  'projects',
  'sweeps',
  'runs',
  'watches',
  'recoveries',
  'renting',
  'watchdogs',
  'limits',
  'ledger',
  'market',
  'money',
  'departures',
  'copies',
  'undoable-actions',
  'account-context',
  'endings',
  'access',
  'instances',
  'relays',
  'alerts',
  'outside-link',
  'settings',
  'updates',
  'demo',
  'diagnostics',
  'freeze-words',
  'engine',
  'bridge',
  'activity',
  'running',
  'storage',
]

/** The same for the page. */
const roomsOfThePage = ['frame', 'screens', 'features', 'components', 'bridge']

/** One rule for each room of a folder: nothing of it imports from a room above. */
const inOneOrder = (folder, rooms) =>
  rooms
    .slice(1)
    .map((room, at) =>
      never(
        `${folder.replace('electron/', '')}-${room}-knows-nothing-above`,
        'The rooms of a folder stand on each other, in one order.',
        { path: `^${folder}/${room}(/|\\.ts$)` },
        { path: `^${folder}/(${rooms.slice(0, at + 1).join('|')})(/|\\.ts$)` },
      ),
    )

module.exports = {
  forbidden: [
    never(
      'no-circles',
      'What needs each other is one thing. Types, too: only the helpers of tests may name each other.',
      { pathNot: '^test/' },
      { circular: true },
    ),
    never(
      'no-circles-of-tests',
      'There, it counts when the tests run.',
      { path: '^test/' },
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    never('no-unresolved', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    never(
      'shared-knows-nobody',
      'Values, rules and words of both sides of the bridge stand alone.',
      { path: '^electron/shared/' },
      { path: '^(electron|renderer|simulator|build|test)/', pathNot: '^electron/shared/' },
    ),
    never(
      'contract-knows-shared-alone',
      'What crosses the bridge needs the values that it carries.',
      { path: '^electron/contract/' },
      { path: '^(electron|renderer|simulator|build|test)/', pathNot: '^electron/(contract|shared)/' },
    ),
    never(
      'interfaces-know-shared-alone',
      'They say what Berth needs of a computer, not who uses it.',
      { path: interfaces },
      { path: '^(electron|renderer|simulator|build|test)/', pathNot: `^electron/shared/|${interfaces}` },
    ),
    never(
      'platform-knows-no-core',
      'It is a computer to everyone: the entries in start/ put it together with the rest.',
      { path: '^electron/platform/' },
      {
        path: '^(electron|renderer|simulator|build|test)/',
        pathNot: '^electron/(platform|shared)/|^electron/ssh/ssh-command',
      },
    ),
    never(
      'service-knows-no-app',
      'The client knows HTTP and the interface.',
      { path: '^electron/service/' },
      {
        path: '^(electron|renderer|simulator|build|test)/',
        pathNot: `^electron/(service|shared)/|${interfaces}`,
      },
    ),
    never(
      'ssh-knows-no-core',
      'Getting in needs an address and a key, not an account. The user’s files are read as Berth’s own, without waiting.',
      { path: '^electron/ssh/' },
      {
        path: '^(electron|renderer|simulator|build|test)/',
        pathNot: `^electron/(ssh|shared)/|^electron/platform/own-file|${interfaces}`,
      },
    ),
    never(
      'core-knows-no-desktop',
      'Decisions need no window and no computer: those come in through interfaces.',
      { path: '^electron/core/' },
      {
        path: '^(electron|renderer|simulator|build|test)/',
        pathNot: `^electron/(core|ssh|service|contract|shared)/|${interfaces}`,
      },
    ),
    ...inOneOrder('electron/core', roomsOfCore),
    ...inOneOrder('renderer', roomsOfThePage),
    never(
      'screens-know-no-other-screen',
      'What several screens use is a feature.',
      { path: '^renderer/screens/([^/]+)/' },
      { path: '^renderer/screens/', pathNot: '^renderer/screens/$1/' },
    ),
    never(
      'electron-in-the-desktop-alone',
      'Everything else runs without Electron.',
      {
        path: '^(electron|renderer|simulator|build)/',
        pathNot: '^(electron/(desktop/|main\\.ts$|preload\\.ts$)|build/electron/default-app/)',
      },
      { path: ['^electron$', '^node_modules/electron/', '^electron/desktop/'] },
    ),
    never(
      'page-knows-the-bridge-alone',
      'The page reaches the main process by messages.',
      { path: '^renderer/' },
      { path: '^(electron|simulator|build|test)/', pathNot: '^electron/(contract|shared)/' },
    ),
    never(
      'simulator-stands-alone',
      'A mistake in the client must not hide in the service it is tried against.',
      { path: '^simulator/' },
      { path: '^(electron|renderer|build|test)/' },
    ),
    never(
      'only-the-entries-start-the-simulator',
      'For the demo.',
      { path: '^(electron|renderer|build)/', pathNot: entries },
      { path: '^simulator/' },
    ),
    never(
      'the-command-knows-the-socket-alone',
      'It is one small file, which each call reads.',
      { path: '^electron/cli(/|\\.ts$)' },
      {
        path: '^(electron|renderer|simulator|build|test)/',
        pathNot: '^electron/(cli|contract|shared)/|^electron/start/(socket-lines|home|node-support)\\.ts$',
      },
    ),
    never(
      'nothing-knows-the-tests',
      'Tests stay out of the product.',
      { pathNot: '^test/' },
      { path: '^test/' },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    exclude: { path: '^dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'svelte', 'default', 'types'],
    },
  },
}
