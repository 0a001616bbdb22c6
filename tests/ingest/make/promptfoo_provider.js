// Answers by the name of the case; one case fails, as a server does that goes away.
const ANSWERS = {
  supported: 'The Seine is 777 km long. It flows through Paris.',
  refuted: 'The Seine is 999 km long. It flows through Paris.',
  empty: '',
  greeting: 'Hello! How can I help you today?',
  unparsable: 'The Seine is 777 km long, says the atlas.',
};

module.exports = class {
  id() {
    return 'scripted';
  }

  async callApi(prompt, context) {
    const name = context.vars.case;
    return name in ANSWERS ? { output: ANSWERS[name] } : { error: "the model's server went away" };
  }
};
