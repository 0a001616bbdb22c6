// Plays the model that extracts statements and judges them; on one answer its reply follows no form at all.
module.exports = class {
  id() {
    return 'scripted-grader';
  }

  async callApi(prompt) {
    const text = prompt.toString();
    if (text.includes('says the atlas') || text.includes('I would rather not say')) {
      return { output: 'I would rather not say.' };
    }
    if (/verdict/i.test(text)) {
      const first = text.includes('The Seine is 999 km long.') ? 'No' : 'Yes';
      return { output: `1. The Seine is so long. Verdict: ${first}.\n2. It flows through Paris. Verdict: Yes.\nFinal verdict for each statement in order: ${first}. Yes.` };
    }
    const statements = text.match(/The Seine is \d+ km long\.(?=[^]*$)/g);
    return { output: text.includes('999') ? 'The Seine is 999 km long.\nIt flows through Paris.' : statements ? 'The Seine is 777 km long.\nIt flows through Paris.' : '' };
  }
};
