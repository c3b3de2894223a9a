import { connect } from './bridge/link.ts'

// The State comes while the browser still reads what shows it, which index.html has it fetch meanwhile.
const connection = connect()
const target = document.getElementById('app')
if (target) import('./show.ts').then(({ show }) => show(target, connection))
