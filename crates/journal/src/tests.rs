mod basics;
mod damage;
mod recovery;
mod support;
mod waiting;
