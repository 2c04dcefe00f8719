import './nope.js'
